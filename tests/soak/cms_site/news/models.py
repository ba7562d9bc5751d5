"""A page of news, as a site has them."""

from django.db import models
from wagtail.models import Page


class NewsPage(Page):
    """Something that happened: its text and what it is filed under."""

    body = models.TextField(blank=True)
    topic = models.CharField(max_length=80, blank=True)

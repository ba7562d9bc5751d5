"""Addresses of the site: its feed."""

from django.urls import path
from news.feed import NewsFeed

urlpatterns = [path("feed/", NewsFeed())]

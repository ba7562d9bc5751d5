"""The feed that the site itself publishes: every live page, the newest first."""

from datetime import datetime

from django.contrib.syndication.views import Feed
from django.db.models import QuerySet
from news.models import NewsPage


class NewsFeed(Feed):
    """RSS 2.0, as Django writes it."""

    title = "News of the county"
    link = "/"
    description = "All of it"

    def items(self) -> QuerySet:
        """Give the pages that are published."""
        return NewsPage.objects.live().order_by("-first_published_at")

    def item_title(self, item: NewsPage) -> str:
        """Give its headline."""
        return item.title

    def item_description(self, item: NewsPage) -> str:
        """Give its text."""
        return item.body

    def item_categories(self, item: NewsPage) -> list[str]:
        """Give what it is filed under."""
        return [item.topic] if item.topic else []

    def item_pubdate(self, item: NewsPage) -> datetime:
        """Give when it was published first."""
        return item.first_published_at

    def item_link(self, item: NewsPage) -> str:
        """Give its address."""
        return f"/news/{item.pk}/"

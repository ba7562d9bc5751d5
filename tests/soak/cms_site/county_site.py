"""Runs a Wagtail site: `county_site.py FOLDER ACTION …`. What an author does is a revision of Wagtail's.

publish TITLE BODY TOPIC → prints the page's number · edit NUMBER TITLE BODY TOPIC · unpublish NUMBER ·
delete NUMBER · feed FILE. The first call makes the database.
"""

import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

HERE = Path(__file__).resolve().parent


def configured(folder: Path) -> None:
    """Set the site up in its folder, once."""
    sys.path[:0] = [str(HERE), str(folder)]
    settings.configure(
        SECRET_KEY="only-for-a-test",
        ALLOWED_HOSTS=["example.org"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "db.sqlite3")}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "news",
            "wagtail.users",
            "wagtail.admin",
            "wagtail.documents",
            "wagtail.images",
            "wagtail.search",
            "wagtail",
            "modelcluster",
            "taggit",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.sites",
        ],
        MIGRATION_MODULES={"news": "news_migrations"},
        ROOT_URLCONF="urls",
        SITE_ID=1,
        STATIC_URL="/static/",
        USE_TZ=True,
        WAGTAIL_SITE_NAME="county",
        WAGTAILADMIN_BASE_URL="https://example.org",
    )
    django.setup()
    if not (folder / "db.sqlite3").exists():
        (folder / "news_migrations").mkdir(exist_ok=True)
        (folder / "news_migrations" / "__init__.py").touch()
        call_command("makemigrations", "news", verbosity=0)
        call_command("migrate", verbosity=0)


def main(folder: Path, action: str, *words: str) -> None:
    """Do one thing that an author, or the site, does."""
    configured(folder)
    from django.test import Client
    from news.models import NewsPage
    from wagtail.models import Page

    if action == "feed":
        answer = Client().get("/feed/", headers={"host": "example.org"})
        assert answer.status_code == 200, answer.content
        Path(words[0]).write_bytes(answer.content)
    elif action == "publish":
        title, body, topic = words
        page = NewsPage(title=title, body=body, topic=topic)
        Page.objects.get(depth=2).add_child(instance=page)
        page.save_revision().publish()
        print(page.pk)
    else:
        page = NewsPage.objects.get(pk=int(words[0]))
        if action == "edit":
            page.title, page.body, page.topic = words[1:]
            page.save_revision().publish()
        elif action == "unpublish":
            page.unpublish()
        else:
            page.delete()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

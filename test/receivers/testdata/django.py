"""A project with the app "shop" of docs/grade.md, on a database in a file beside it."""

import os

import django
from django.conf import settings
from django.core.management import call_command
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    CAURI_WEBHOOK_SECRET=os.environ["CAURI_WEBHOOK_SECRET"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(os.path.dirname(__file__), "db.sqlite3")}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["shop"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of a test",
)
django.setup()

from shop.views import webhooks  # noqa: E402: the settings have to be there

urlpatterns = [path("webhooks", webhooks)]

call_command("migrate", run_syncdb=True, verbosity=0)
call_command("runserver", "127.0.0.1:" + os.environ["PORT"], use_reloader=False)

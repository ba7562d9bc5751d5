"""Recorded contacts in the forms that other programs write and read: one file a form."""

"""Reading of subscription documents in XML."""

"""What a device costs: battery, board profiles, prices of matching steps."""

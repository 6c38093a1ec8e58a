"""How fast, how big, what does it cost?"""

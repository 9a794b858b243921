"""How well documents are found in translation, and which metrics predict it."""

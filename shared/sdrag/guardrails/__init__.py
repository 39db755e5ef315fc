"""The RAG guardrails: access, relevance, injection, grounding and the rest."""

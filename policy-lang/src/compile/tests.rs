//! What a hand-edited policy can hold, and what comes of it.

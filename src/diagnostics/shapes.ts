
// --- dns-check ---

// --- ssl-check ---

// --- blacklist-check ---

// --- dmarc-check ---

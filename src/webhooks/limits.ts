const KIB = 1024
const MIB = 1024 * KIB

/** Bytes of a body that are kept; the largest that common senders send is 25 MB, the usual one below 64 kB. */
export const MAX_STORED_BODY_BYTES = MIB

/** Bytes of a body that are read; whoever sends more is answered 413. */
export const MAX_READ_BODY_BYTES = 10 * MIB

/** Bytes of large bodies in memory at once, received or waiting for their commit; beyond it senders are asked to come back. */
export const BODY_MEMORY_BYTES = 64 * MIB

/** Bytes of each body that there is always room for: a few large ones that stall must not shut out the usual ones. */
export const UNCOUNTED_BODY_BYTES = 16 * KIB

/** Pieces of a body before they are made one: a sender of single bytes must not cost a hundred times their size. */
export const MAX_BODY_CHUNKS = 256

/** Rows and bytes of one commit: more would make everybody in it wait for the longest. */
export const MAX_BATCH_ROWS = 1_000
export const MAX_BATCH_BYTES = 8 * MIB

/** Requests that wait for a commit; at ten thousand a second, a second. */
export const MAX_QUEUED_ROWS = 10_000

/** Milliseconds for one commit; after that its senders are told that it is not known to be stored. */
export const COMMIT_TIMEOUT_MS = 10_000

/** Requests kept for each endpoint, and for how many days. */
export const REQUESTS_PER_ENDPOINT = 1_000
export const RETENTION_DAYS = 30

/** Milliseconds between two looks for requests beyond those. */
export const TRIM_INTERVAL_MS = 1_000

/** Rows of one deletion in the background. */
export const MAX_TRIMMED_ROWS = 20_000

/** Rows of one deletion of what is beyond an account's quota: with bodies of 1 MiB, half a gigabyte. */
export const MAX_QUOTA_TRIMMED_ROWS = 500

/** Milliseconds between two checks of the free space. */
export const DISK_CHECK_INTERVAL_MS = 10_000

/** Requests of each endpoint that are kept even when the disk is almost full: what happened last can always be seen. */
export const MIN_REQUESTS_PER_ENDPOINT = 10

/** Requests trimmed since their room was last made free, and of all those kept, after which it is again. */
export const VACUUM_AFTER_ROWS = 20_000
export const VACUUM_AFTER_BYTES = 256 * MIB
export const VACUUM_AFTER_SHARE = 0.05

/** Milliseconds for one VACUUM of all captured requests. */
export const VACUUM_TIMEOUT_MS = 30 * 60_000

/** Longest delay before an answer, in seconds: senders give up after 5 to 30. */
export const MAX_DELAY_SECONDS = 30

/** Delayed answers at once; who comes later is answered without delay, which a header says. */
export const MAX_DELAYED_PER_ENDPOINT = 100
export const MAX_DELAYED_PER_ACCOUNT = 200
export const MAX_DELAYED_RESPONSES = 1_000

/** Bytes of a configured answer. */
export const MAX_RESPONSE_BODY_BYTES = 64 * KIB

/** Of a malformed request, the bytes that are kept. */
export const MAX_MALFORMED_BYTES = KIB

/** Bytes of bodies in one page of captured requests. To build a page occupies the process, for 10 ms per mebibyte. */
export const MAX_PAGE_BYTES = 2 * MIB

/** The same of a HAR export, which is one page. */
export const MAX_HAR_BYTES = 8 * MIB

/** Bytes of each body that a search looks through. */
export const SEARCHED_BODY_BYTES = 64 * KIB

/** Endpoints of one account: a bound on what it may store. */
export const MAX_ENDPOINTS_PER_ACCOUNT = 100

/** Endpoints remembered, bytes of their answers, and unknown tokens remembered. */
export const MAX_CACHED_ENDPOINTS = 10_000
export const MAX_CACHED_RESPONSE_BYTES = 64 * MIB
export const MAX_CACHED_UNKNOWN_TOKENS = 1_000

/** Milliseconds for which a change may stay unseen if its signal should get lost. */
export const ENDPOINT_CACHE_MS = 30_000

/** Characters of one value put into an answer, and how many are: the sender chooses them. */
export const MAX_TEMPLATE_VALUE_CHARS = 4 * KIB
export const MAX_TEMPLATE_VALUES = 100

/** Milliseconds between two words to all instances about what was captured. */
export const NOTIFY_INTERVAL_MS = 50

const KIB = 1024
const MIB = 1024 * KIB

/** Bytes of a body that are kept; the largest that common senders send is 25 MB, the usual one below 64 kB. */
export const BODY_KEPT = MIB

/** Bytes of a body that are read; whoever sends more is answered 413. */
export const BODY_READ = 10 * MIB

/** Bytes of large bodies in memory at once, received or waiting for their commit; beyond it senders are asked to come back. */
export const BODIES_IN_MEMORY = 64 * MIB

/** Bytes of each body that there is always room for: a few large ones that stall must not shut out the usual ones. */
export const BODY_ALWAYS = 16 * KIB

/** Pieces of a body before they are made one: a sender of single bytes must not cost a hundred times their size. */
export const PIECES = 256

/** Rows and bytes of one commit: more would make everybody in it wait for the longest. */
export const BATCH_ROWS = 1_000
export const BATCH_BYTES = 8 * MIB

/** Requests that wait for a commit; at ten thousand a second, a second. */
export const QUEUE_ROWS = 10_000

/** Milliseconds for one commit; after that its senders are told that it is not known to be stored. */
export const COMMIT_DEADLINE = 10_000

/** Requests kept for each endpoint, and for how many days. */
export const KEPT = 1_000
export const KEPT_DAYS = 30

/** Milliseconds between two looks for requests beyond those. */
export const TRIM_EVERY = 1_000

/** Rows of one deletion in the background. */
export const TRIM_ROWS = 20_000

/** Rows of one deletion of what is beyond an account's quota: with bodies of 1 MiB, half a gigabyte. */
export const TRIM_QUOTA_ROWS = 500

/** Milliseconds between two checks of the free space. */
export const DISK_CHECKED_EVERY = 10_000

/** Requests of each endpoint that are kept even when the disk is almost full: what happened last can always be seen. */
export const DISK_KEPT = 10

/** Requests trimmed since their room was last made free, and of all those kept, after which it is again. */
export const VACUUM_ROWS = 20_000
export const VACUUM_BYTES = 256 * MIB
export const VACUUM_SHARE = 0.05

/** Milliseconds for one VACUUM of all captured requests. */
export const VACUUM_TIMEOUT_MS = 30 * 60_000

/** Longest delay before an answer, in seconds: senders give up after 5 to 30. */
export const LONGEST_DELAY = 30

/** Delayed answers at once; who comes later is answered without delay, which a header says. */
export const DELAYED_PER_ENDPOINT = 100
export const DELAYED_PER_ACCOUNT = 200
export const DELAYED = 1_000

/** Bytes of a configured answer. */
export const RESPONSE_BODY = 64 * KIB

/** Of a malformed request, the bytes that are kept. */
export const REJECTED_KEPT = KIB

/** Bytes of bodies in one page of captured requests. To build a page occupies the process, for 10 ms per mebibyte. */
export const PAGE_BYTES = 2 * MIB

/** The same of a HAR export, which is one page. */
export const HAR_BYTES = 8 * MIB

/** Bytes of each body that a search looks through. */
export const SEARCHED = 64 * KIB

/** Endpoints of one account: a bound on what it may store. */
export const ENDPOINTS_PER_ACCOUNT = 100

/** Endpoints remembered, bytes of their answers, and unknown tokens remembered. */
export const REMEMBERED = 10_000
export const REMEMBERED_BYTES = 64 * MIB
export const REMEMBERED_UNKNOWN = 1_000

/** Milliseconds for which a change may stay unseen if its signal should get lost. */
export const REMEMBERED_FOR = 30_000

/** Characters of one value put into an answer, and how many are: the sender chooses them. */
export const TEMPLATE_VALUE = 4 * KIB
export const TEMPLATE_VALUES = 100

/** Milliseconds between two words to all instances about what was captured. */
export const ANNOUNCE_EVERY = 50

import { MINUTE_MS } from '../time.ts'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Bytes of a body that are stored. Common senders send up to 25 MB, and usually less than 64 kB.
 */
export const MAX_STORED_BODY_BYTES = MIB

/** Bytes of a body that are read. Larger bodies get 413. */
export const MAX_READ_BODY_BYTES = 10 * MIB

/**
 * Bytes of large bodies in memory at once, received or waiting for their commit. Beyond it, senders
 * get 503 and retry.
 */
export const BODY_MEMORY_BYTES = 64 * MIB

/**
 * Bytes of each body that do not count against that memory, so that a few large bodies that stall
 * do not block the usual ones.
 */
export const UNCOUNTED_BODY_BYTES = 16 * KIB

/**
 * Chunks of a body before they are merged: a sender of single bytes must not cost a hundred times
 * their size.
 */
export const MAX_BODY_CHUNKS = 256

/** Rows and bytes of one commit. With more, all of its senders would wait for the longest. */
export const MAX_BATCH_ROWS = 1_000
export const MAX_BATCH_BYTES = 8 * MIB

/** Requests that wait for a commit: one second’s worth at ten thousand per second. */
export const MAX_QUEUED_ROWS = 10_000

/**
 * Milliseconds for one commit. After that, its senders are told that the request may not be stored.
 */
export const COMMIT_TIMEOUT_MS = 10_000

/** Requests stored for each endpoint, and for how many days. */
export const REQUESTS_PER_ENDPOINT = 1_000
export const RETENTION_DAYS = 30

/** Milliseconds between two checks for requests beyond those limits. */
export const TRIM_INTERVAL_MS = 1_000

/** Rows that the background deletes at once. */
export const MAX_TRIMMED_ROWS = 20_000

/**
 * Rows beyond a quota that are deleted at once: with bodies of 1 MiB, half a gigabyte.
 */
export const MAX_QUOTA_TRIMMED_ROWS = 500

/** Milliseconds between two checks of the free space. */
export const DISK_CHECK_INTERVAL_MS = 10_000

/**
 * Requests of each endpoint that are kept even when the disk is almost full, so that recent ones
 * are always visible.
 */
export const MIN_REQUESTS_PER_ENDPOINT = 10

/**
 * A VACUUM runs after so many deleted requests or bytes, if they are also this share of all stored
 * ones.
 */
export const VACUUM_AFTER_ROWS = 20_000
export const VACUUM_AFTER_BYTES = 256 * MIB
export const VACUUM_AFTER_SHARE = 0.05

/** Milliseconds for one VACUUM of all captured requests. */
export const VACUUM_TIMEOUT_MS = 30 * MINUTE_MS

/** Longest delay of a response in seconds. Senders give up after 5 to 30. */
export const MAX_DELAY_SECONDS = 30

/**
 * Delayed responses at once. Further ones are sent without delay, with a header that reports it.
 */
export const MAX_DELAYED_PER_ENDPOINT = 100
export const MAX_DELAYED_PER_ACCOUNT = 200
export const MAX_DELAYED_RESPONSES = 1_000

/** Bytes of a configured response body. */
export const MAX_RESPONSE_BODY_BYTES = 64 * KIB

/** Bytes that are stored of a malformed request. */
export const MAX_MALFORMED_BYTES = KIB

/**
 * Bytes of bodies in one page of captured requests. Building a page blocks the process for 10 ms
 * per mebibyte.
 */
export const MAX_PAGE_BYTES = 2 * MIB

/** Bytes of bodies in a HAR export, which is a single page. */
export const MAX_HAR_BYTES = 8 * MIB

/** Bytes of each body that a search covers. */
export const SEARCHED_BODY_BYTES = 64 * KIB

/** Endpoints of one workspace, which bounds its storage. */
export const MAX_ENDPOINTS_PER_WORKSPACE = 100

/** Endpoints in the cache, bytes of their responses, and unknown tokens in the cache. */
export const MAX_CACHED_ENDPOINTS = 10_000
export const MAX_CACHED_RESPONSE_BYTES = 64 * MIB
export const MAX_CACHED_UNKNOWN_TOKENS = 1_000

/** Milliseconds after which a change is seen even if its notification was lost. */
export const ENDPOINT_CACHE_MS = 30_000

/** Bytes of all values in a response, and their number. The sender chooses both. */
export const MAX_TEMPLATE_VALUE_BYTES = MIB
export const MAX_TEMPLATE_VALUES = 100

/** Milliseconds between two notifications of captured requests to all instances. */
export const NOTIFY_INTERVAL_MS = 50

/** Minutes that users choose: between two alerts about requests, and without a request. */
export const MAX_ALERT_MINUTES = 43_200
export const MIN_CALLED_MINUTES = 15
export const MIN_SILENT_MINUTES = 5

/** Alerts about silences of an endpoint in a day: a sender that is often late must not raise more. */
export const MAX_SILENCES_PER_DAY = 24

/** Milliseconds between two alerts about invalid signatures of an endpoint. */
export const BAD_SIGNATURE_ALERT_GAP_MS = 60 * MINUTE_MS

/** Seconds between two evaluations of an endpoint’s alerts: less than between two passes. */
export const ALERT_EVALUATION_SECONDS = 30

/** Endpoints that are evaluated together. */
export const MAX_EVALUATED_ENDPOINTS = 100

/**
 * Requests of an endpoint, and bytes of bodies of an endpoint and of an account, whose signatures
 * one pass verifies for alerts. The others follow in the next pass.
 */
export const MAX_VERIFIED_REQUESTS = 200
export const MAX_VERIFIED_BYTES = 2 * MIB
export const MAX_VERIFIED_BYTES_PER_ACCOUNT = 8 * MIB

/** Seconds without a pass that count as a downtime of the service. */
export const MAX_PASS_GAP_SECONDS = 180

import { DAY_MS, DAY_SECONDS, MINUTE_MS } from '../time.ts'

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

/**
 * Milliseconds after which requests are compared again that a waiting delivery kept, and how many at
 * once.
 */
export const PINNED_INTERVAL_MS = 5_000
export const MAX_COMPARED_PINNED = 1_000

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

/** Further headers of a response, and their bytes. */
export const MAX_RESPONSE_HEADERS = 20
export const MAX_RESPONSE_HEADER_BYTES = 4 * KIB

/** Conditions of a rule, their levels, values of a list, and characters of a field and a value. */
export const MAX_CONDITIONS = 64
export const MAX_CONDITION_DEPTH = 6
export const MAX_LISTED_VALUES = 50
export const MAX_FIELD_CHARS = 200
export const MAX_VALUE_CHARS = 1_000

/** Rules of an endpoint, answers of a rule, and bytes of all rules of an endpoint. */
export const MAX_RULES = 20
export const MAX_RULE_ANSWERS = 10
export const MAX_RULES_BYTES = 256 * KIB

/** Times that an answer of a sequence is sent before the next one. */
export const MAX_ANSWER_TIMES = 1_000

/** Minutes that the key of a sequence is remembered after its last request: a week. */
export const MAX_KEY_MINUTES = 10_080

/** Keys of a sequence that are remembered. The sender chooses them; the oldest are forgotten. */
export const MAX_SEQUENCE_KEYS = 10_000

/** Milliseconds for which a fault leaves its sender without a response. */
export const HANG_MS = MINUTE_MS

/** Milliseconds between two parts of a response that trickles, and their number. */
export const TRICKLE_INTERVAL_MS = 100
export const MAX_TRICKLE_PARTS = 200

/** Characters of a chosen name, and days after which it is free for others. */
export const MIN_NAME_CHARS = 6
export const MAX_NAME_CHARS = 63
export const HELD_NAME_DAYS = 90

/** Hours in which a request with the key of an earlier one repeats it: longer than most senders try. */
export const REPEAT_HOURS = 24

/** Destinations of an endpoint and of a workspace. */
export const MAX_DESTINATIONS_PER_ENDPOINT = 10
export const MAX_DESTINATIONS_PER_WORKSPACE = 100

/** What users choose of a destination. */
export const MAX_CONCURRENCY = 50
export const MAX_PER_MINUTE = 60_000
export const MAX_TIMEOUT_SECONDS = 60
export const MAX_SCHEDULE_STEPS = 20
export const MAX_RETRY_SECONDS = 7 * DAY_SECONDS

/** Deliveries that wait for a destination, and bytes of their bodies. Beyond it, new ones are dropped. */
export const MAX_WAITING_DELIVERIES = 10_000
export const MAX_WAITING_BYTES = 256 * MIB

/** Days for which deliveries of a paused destination are held. */
export const HELD_DELIVERY_DAYS = 7

/** Days for which ended deliveries and attempts are shown. */
export const DELIVERY_RETENTION_DAYS = 30

/** Operations of a JSON Patch, headers that a change removes, and bytes of a change. */
export const MAX_PATCH_OPERATIONS = 50
export const MAX_REMOVED_HEADERS = 20
export const MAX_CHANGE_BYTES = 32 * KIB

/** Bytes to which a body grows by a patch: `copy` could double it with each operation. */
export const MAX_PATCHED_BYTES = 2 * MIB

/** Bytes of an edited body, edited requests that an endpoint keeps, and headers of one. */
export const MAX_EDITED_BODY_BYTES = 256 * KIB
export const MAX_EDITS_PER_ENDPOINT = 20
export const MAX_EDITED_HEADERS = 200

/** Newest ended deliveries of a destination, of which its success rate is. */
export const RATED_DELIVERIES = 200

/** Attempts of a delivery that are shown. */
export const LISTED_ATTEMPTS = 50

/** Seconds before each retry: the schedule of Standard Webhooks, of 75 hours and 35 minutes. */
export const DEFAULT_SCHEDULE_SECONDS = [
  5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
]

/** The share of a delay that is added at random, so that retries do not come together. */
export const RETRY_JITTER = 0.1

/** The longest time that a receiver can ask for, and after which a delivery ends in any case. */
export const MAX_RETRY_AFTER_MS = DAY_MS
export const MAX_DELIVERY_AGE_MS = 3.5 * DAY_MS

/** The breaker of a destination: results of a time, of which this share failed, before it opens. */
export const BREAKER_WINDOW_MS = MINUTE_MS
export const BREAKER_MIN_RESULTS = 10
export const BREAKER_FAILED_SHARE = 0.7

/** Milliseconds between two probes of an open breaker: doubled each time, up to a limit. */
export const BREAKER_PROBE_MS = 30_000
export const MAX_BREAKER_PROBE_MS = 15 * MINUTE_MS

/** Hours of failure after which it is alerted about, and the time after which it is turned off. */
export const FAILING_ALERT_HOURS = [1, 24, 72]
export const OFF_AFTER_MS = 5 * DAY_MS

/** Seconds for which the earliest attempt of a destination can lie ahead. */
export const MAX_DESTINATION_PAUSE_SECONDS = DAY_SECONDS

/**
 * Seconds for which an instance has a destination, and milliseconds after which it renews that: when
 * an instance dies, another one continues so much later.
 */
export const DESTINATION_LEASE_SECONDS = 30
export const DELIVERY_LEASE_RENEWAL_MS = 5_000

/** Destinations that an instance sends to at once, and milliseconds between two checks for due ones. */
export const MAX_CLAIMED_DESTINATIONS = 200
export const FORWARDING_POLL_MS = 1_000

/** Milliseconds after which a destination makes room, where others wait for one. */
export const DESTINATION_TURN_MS = 20_000

/**
 * Bytes of the bodies that an instance sends at once. Beyond it, each destination sends one request at
 * a time. And those that it reads from the database together.
 */
export const MAX_SENDING_BYTES = 128 * MIB
export const MAX_READ_BYTES = 4 * MIB

/** Replays of an endpoint that run at once, and that are listed. */
export const MAX_RUNNING_REPLAYS = 5
export const LISTED_REPLAYS = 20

/** Seconds’ worth of a replay that are queued together, and its requests at most. */
export const REPLAY_PAGE_SECONDS = 5
export const MAX_REPLAY_PAGE = 200

/** Deliveries that wait for a destination while a replay adds more: new requests need room. */
export const MAX_REPLAY_QUEUE = 2_000

/** Seconds for which an instance has a replay. */
export const REPLAY_LEASE_SECONDS = 60

/** Milliseconds between two checks of the queues. */
export const QUEUE_CHECK_INTERVAL_MS = 5_000

/** Seconds for which senders wait for a listener, by default and at most, and of its lease. */
export const DEFAULT_HOLD_SECONDS = 9
export const MAX_HOLD_SECONDS = 25
export const LISTENER_LEASE_SECONDS = 15

/** Headers and bytes of the answer of a listener. */
export const MAX_ANSWER_HEADERS = 100
export const MAX_ANSWER_BYTES = 512 * KIB

/** Days for which answers of listeners are shown. */
export const ANSWER_RETENTION_DAYS = 30

/** Public links of an endpoint, and days until one expires: by default and at most. */
export const MAX_SHARES_PER_ENDPOINT = 20
export const DEFAULT_SHARE_DAYS = 7
export const MAX_SHARE_DAYS = 30

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

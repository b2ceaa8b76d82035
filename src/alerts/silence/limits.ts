import { DAY_MS, DAY_SECONDS, MINUTE_MS } from '../../time.ts'

/** For how long an incident can be snoozed, in minutes: 15 minutes to 30 days. */
export const SNOOZE_MINUTES = { least: 15, most: (30 * DAY_MS) / MINUTE_MS }

/** For how long alerts can be muted, in minutes: 15 minutes to a year. Longer is until removed. */
export const MUTE_MINUTES = { least: 15, most: (366 * DAY_MS) / MINUTE_MS }

/** Mutes in force of one workspace: each new alert is compared with all of them. */
export const MAX_MUTES_PER_WORKSPACE = 200

/** Titles that the message at the end of a snooze lists; further ones are counted. */
export const MAX_HELD_BACK_TITLES = 20

/** Seconds for which the links in a message work. */
export const LINK_LIFETIME_SECONDS = 7 * DAY_SECONDS

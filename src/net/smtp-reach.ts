import { isIPv6 } from 'node:net'
import { classify } from './address.ts'
import { DAY_MS } from '../time.ts'

/**
 * Milliseconds for which a connection to a mail server shows that the way to others is open. Domains
 * are checked once a day.
 */
const OPEN_MS = 2 * DAY_MS

/**
 * Whether connections to port 25 leave this network. Many providers block them, some with a refusal
 * that looks as if the mail server had sent it: only where another one has answered is a refusal
 * that of the server.
 */
export type SmtpReach = {
  /** Records that a connection to an address was accepted. */
  note(address: string): void
  /** Whether one was, to an address of the same IP version, or of any if it is not known. */
  isOpen(address?: string): boolean
}

/** @param counts whether a connection to an address shows anything */
export function createSmtpReach(counts: (address: string) => boolean): SmtpReach {
  const openedAt = new Map<boolean, number>()
  return {
    note(address) {
      if (counts(address)) openedAt.set(isIPv6(address), Date.now())
    },
    isOpen: (address) =>
      [...openedAt].some(
        ([isV6, at]) =>
          (address === undefined || isIPv6(address) === isV6) && Date.now() - at < OPEN_MS,
      ),
  }
}

/** What this process has found out. A server in the own network shows nothing of the way out. */
export const smtpReach = createSmtpReach((address) => classify(address).public)

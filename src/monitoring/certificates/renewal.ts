import { DAY_MS } from '../../time.ts'
import type { CertificateDetail } from './check-certificates.ts'

/** Automatic renewal replaces a certificate of up to this lifetime with a third of it left. */
const MAX_AUTOMATIC_LIFETIME_MS = 100 * DAY_MS
const GRACE_MS = 3 * DAY_MS

function lifetimeOf({ validFrom, validTo }: CertificateDetail): number {
  return Date.parse(validTo) - Date.parse(validFrom)
}

/**
 * Milliseconds before the end of a certificate at which its renewal was due, with some grace: as
 * long before as the last renewal, else with a third of a short lifetime left. Null where neither is
 * known.
 */
export function renewalDueBefore(detail: CertificateDetail): number | null {
  // The renewal of a certificate does not depend on the end of its issuers.
  if (detail.endsWith !== undefined) return null
  const lifetime = lifetimeOf(detail)
  const third = lifetime <= MAX_AUTOMATIC_LIFETIME_MS ? lifetime / 3 : null
  const due = detail.renewedWithLeftMs ?? third
  return due === null ? null : due - Math.min(GRACE_MS, lifetime / 12)
}

export function isRenewalDue(detail: CertificateDetail, now: Date): boolean {
  const before = renewalDueBefore(detail)
  return before !== null && Date.parse(detail.validTo) - now.getTime() <= before
}

/**
 * Adds to an observed certificate how early the one before was replaced. A replacement long before
 * the end was no regular renewal, and one after the end was late: both are ignored.
 */
export function withRenewal(
  before: CertificateDetail | undefined,
  observed: CertificateDetail,
  now: Date,
): CertificateDetail {
  const renewedWithLeftMs = before && leftAtRenewal(before, observed, now)
  return renewedWithLeftMs === undefined ? observed : { ...observed, renewedWithLeftMs }
}

function leftAtRenewal(
  before: CertificateDetail,
  observed: CertificateDetail,
  now: Date,
): number | undefined {
  const left = Date.parse(before.validTo) - now.getTime()
  const isRegular =
    before.fingerprint256 !== observed.fingerprint256 &&
    before.endsWith === undefined &&
    observed.endsWith === undefined &&
    observed.validTo > before.validTo &&
    left > 0 &&
    left <= lifetimeOf(before) / 3
  return isRegular ? left : before.renewedWithLeftMs
}

import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import {
  SNDS_APPROVAL_MONTHS,
  SNDS_APPROVAL_WARNING_DAYS,
  SNDS_LINK_DAYS,
  SNDS_LINK_WARNING_DAYS,
  SNDS_SIGN_IN_DAYS,
  SNDS_SIGN_IN_WARNING_DAYS,
} from '../limits.ts'
import type { SndsAlertRow } from './snds.sql.ts'

/** An address that Microsoft rates badly, and why. */
export type BadAddress = SndsAlertRow & { reasons: string[] }

const MAX_NAMED = 10

/** What alerts of SNDS are about, besides its access. */
export const SNDS_INCIDENTS = {
  ratings: 'snds/ratings',
  link: 'provider-access/snds-link',
  signIn: 'provider-access/snds-sign-in',
  approval: 'provider-access/snds-approval',
} as const

/** The alert about addresses that Microsoft rates yellow or red, or blocks. */
export function sndsAlert(workspaceId: string, bad: readonly BadAddress[]): NewAlert {
  const at = new Date()
  const named = bad.slice(0, MAX_NAMED)
  const more = bad.length - named.length
  const [first] = bad
  return {
    workspaceId,
    kind: 'deliverability.snds',
    key: `snds ratings ${at.toISOString()}`,
    incident: SNDS_INCIDENTS.ratings,
    phase: 'open',
    severity: bad.some(({ level }) => level === 'error') ? 'error' : 'warning',
    title:
      bad.length === 1
        ? `Microsoft rates mail from ${first?.address} badly`
        : `Microsoft rates mail from ${bad.length} addresses badly`,
    text: [
      ...named.map(({ address, reasons }) => `${address}: ${reasons.join(', ')}.`),
      ...(more > 0 ? [`${more} more.`] : []),
    ].join(' '),
    nextStep:
      'Send only to people who asked for it, and check the addresses for mail that isn’t yours. Ask Microsoft’s sender support about a block.',
    path: '/domains',
    objects: named.map(({ address }) => address),
    at,
  }
}

export function sndsNormalAlert(workspaceId: string): ResolvingAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'deliverability.snds-normal',
    key: `snds normal ${at.toISOString()}`,
    incident: SNDS_INCIDENTS.ratings,
    title: 'Resolved: Microsoft rates all addresses green again',
    text: 'The latest days of SNDS have no yellow or red result and no raised complaint rate.',
    nextStep: '',
    path: '/domains',
    at,
  }
}

type Ending = { workspaceId: string; end: keyof typeof ENDS; since: Date | string }

const ENDS = {
  link: {
    title: `The links of Microsoft SNDS end within ${SNDS_LINK_WARNING_DAYS} days`,
    text: `They work for ${SNDS_LINK_DAYS} days after their creation.`,
    nextStep:
      'Create new links in the SNDS portal, and enter them in the Deliverability tab of a domain. A sign-in there does not end after 30 days.',
    resolved: 'Resolved: the access to Microsoft SNDS was renewed',
  },
  signIn: {
    title: `The sign-in at Microsoft SNDS ends within ${SNDS_SIGN_IN_WARNING_DAYS} days`,
    text: `It was last used ${SNDS_SIGN_IN_DAYS - SNDS_SIGN_IN_WARNING_DAYS} days ago, and Microsoft ends it after ${SNDS_SIGN_IN_DAYS}.`,
    nextStep: 'Open the Deliverability tab of a domain, and sign in to Microsoft SNDS again.',
    resolved: 'Resolved: the sign-in at Microsoft SNDS was used again',
  },
  approval: {
    title: `The access to Microsoft SNDS ends within ${SNDS_APPROVAL_WARNING_DAYS} days`,
    text: `Microsoft wants it approved again every ${SNDS_APPROVAL_MONTHS} months.`,
    nextStep:
      'Confirm your networks in the SNDS portal, and enter the day in the Deliverability tab of a domain.',
    resolved: 'Resolved: the access to Microsoft SNDS was approved again',
  },
} as const

/** The alert about an access that ends soon: it is renewed by hand. */
export function accessEndingAlert({ workspaceId, end, since }: Ending): NewAlert {
  const { title, text, nextStep } = ENDS[end]
  return {
    workspaceId,
    kind: 'deliverability.access-ending',
    key: `snds ${end} ending ${new Date(since).toISOString()}`,
    incident: SNDS_INCIDENTS[end],
    phase: 'open',
    severity: 'warning',
    title,
    text,
    nextStep,
    path: '/domains',
    objects: ['Microsoft SNDS'],
    at: new Date(),
  }
}

export function accessRenewedAlert(workspaceId: string, end: Ending['end']): ResolvingAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'deliverability.access-working',
    key: `snds ${end} renewed ${at.toISOString()}`,
    incident: SNDS_INCIDENTS[end],
    title: ENDS[end].resolved,
    text: '',
    nextStep: '',
    path: '/domains',
    objects: ['Microsoft SNDS'],
    at,
  }
}

import { markup, type Html } from '../../http/markup.ts'
import { plainPage } from '../../http/plain-page.ts'
import type { Purpose } from '../providers.ts'

const TEXTS = {
  granted: (account: string) => `Signed in as ${account}`,
  grantedText: (provider: string) =>
    `Portreeve may now sign in to this mailbox at ${provider}. Close this window and continue where you began.`,
  grantedStatistics: (provider: string) =>
    `Portreeve may now read your statistics at ${provider}. Close this window and continue where you began.`,
  failed: 'The sign-in failed',
  approval: 'Page for your administrator',
  approved: 'Approved',
  approvedText: 'Portreeve is approved for your organization. Sign in to the mailbox now.',
  dashboard: 'Back to migrations',
  domains: 'Back to domains',
  ownerFailed: 'Open the link that you were sent, and try again.',
}

/**
 * The owner of a mailbox could not sign in.
 * @param approvalUrl the page where an administrator approves this service
 */
export function ownersFailedPage(
  { message }: { message: string },
  approvalUrl: string | null,
): string {
  const approval =
    approvalUrl === null ? null : markup`<p><a href="${approvalUrl}">${TEXTS.approval}</a></p>`
  return plainPage(TEXTS.failed, message, markup`${approval}<p>${TEXTS.ownerFailed}</p>`)
}

/** The person has allowed the access. */
export function grantedPage(
  { account, provider, purpose }: { account: string; provider: { name: string }; purpose: Purpose },
  baseUrl: string,
): string {
  const title = TEXTS.granted(account)
  if (purpose === 'mailbox')
    return plainPage(title, TEXTS.grantedText(provider.name), dashboard(baseUrl))
  const domains = markup`<a href="${baseUrl}/domains">${TEXTS.domains}</a>`
  return plainPage(title, TEXTS.grantedStatistics(provider.name), domains)
}

/** @param approvalUrl the page where an administrator approves this service */
export function failedPage(
  { message }: { message: string },
  approvalUrl: string | null,
  baseUrl: string,
): string {
  const action =
    approvalUrl === null
      ? dashboard(baseUrl)
      : markup`<p><a href="${approvalUrl}">${TEXTS.approval}</a></p>${dashboard(baseUrl)}`
  return plainPage(TEXTS.failed, message, action)
}

/** An administrator has approved this service for their organization. */
export function approvedPage(baseUrl: string): string {
  return plainPage(TEXTS.approved, TEXTS.approvedText, dashboard(baseUrl))
}

function dashboard(baseUrl: string): Html {
  return markup`<a href="${baseUrl}/migrations">${TEXTS.dashboard}</a>`
}

import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import type { Severity } from '../../alerts/severity.ts'
import type { Fact } from '../facts/observation.ts'
import type { HostRow } from '../hosts.sql.ts'
import type { CertificateDetail, CertificateState } from './check-certificates.ts'
import { DAY_MS } from '../../time.ts'

export type CertificateChange = {
  port: number
  from: CertificateState
  to: CertificateState
  fact: Fact<CertificateDetail>
}

/** The alert about a certificate whose state changed. */
export function certificateAlert(
  { id, host, workspaceId }: HostRow,
  change: CertificateChange,
  at: Date,
): NewAlert {
  const { port, to, fact } = change
  const { title, text, nextStep } = TEXTS[to](
    `${host}, port ${port}`,
    fact.detail,
    daysLeft(fact.detail, at),
  )
  return {
    workspaceId,
    kind: `certificate.${to}`,
    key: `certificate ${workspaceId} ${host} ${port} ${to} ${fact.detail.fingerprint256} ${fact.since.toISOString()}`,
    incident: certificateIncidentOf(host, port),
    phase: to === 'valid' ? 'resolved' : 'open',
    severity: SEVERITY[to],
    title,
    text: `${text}\n${describeCertificate(fact.detail)}`,
    nextStep,
    path: `/monitoring/${id}`,
    objects: [host],
    at,
  }
}

/** Name of the incident of a certificate. */
export function certificateIncidentOf(host: string, port: number): string {
  return `certificate/${host}/${port}`
}

type Renewal = { port: number; detail: CertificateDetail }

/** The alert about a valid certificate that should have been renewed by now. */
export function renewalDueAlert(
  { id, host, workspaceId }: HostRow,
  { port, detail }: Renewal,
  at: Date,
): NewAlert {
  const days = count(daysLeft(detail, at))
  return {
    workspaceId,
    kind: 'certificate.renewal-due',
    key: `certificate ${workspaceId} ${host} ${port} renewal-due ${detail.fingerprint256}`,
    incident: certificateIncidentOf(host, port),
    phase: 'open',
    severity: 'warning',
    title: `The certificate of ${host}, port ${port} wasn’t renewed`,
    text: `The certificate of ${host}, port ${port} is valid for ${days} more, but its renewal was due.\n${describeCertificate(detail)}`,
    nextStep:
      'Check why automatic renewal failed. On most servers: `certbot renew --dry-run` shows the error. After a renewal, reload the service.',
    path: `/monitoring/${id}`,
    objects: [host],
    at,
  }
}

/** The alert about a certificate that was renewed late, but before it became a problem. */
export function renewedAlert(
  { id, host, workspaceId }: HostRow,
  { port, detail }: Renewal,
  at: Date,
): ResolvingAlert {
  return {
    workspaceId,
    kind: 'certificate.valid',
    key: `certificate ${workspaceId} ${host} ${port} renewed ${detail.fingerprint256}`,
    incident: certificateIncidentOf(host, port),
    title: `Resolved: the certificate of ${host}, port ${port} was renewed`,
    text: describeCertificate(detail),
    nextStep: '',
    path: `/monitoring/${id}`,
    objects: [host],
    at,
  }
}

/** Issuer and last day of a certificate, in a sentence. */
export function describeCertificate({ issuer, validTo }: CertificateDetail): string {
  return `Issued by ${issuer || 'an unnamed issuer'}, valid until ${validTo.slice(0, 10)} (UTC).`
}

/** Whole days until the certificate expires, rounded down. */
export function daysLeft({ validTo }: Pick<CertificateDetail, 'validTo'>, at: Date): number {
  return Math.floor((Date.parse(validTo) - at.getTime()) / DAY_MS)
}

const SEVERITY: Record<CertificateState, Severity> = {
  valid: 'info',
  expiring: 'warning',
  'expiring-soon': 'error',
  expired: 'critical',
  'not-yet-valid': 'critical',
  'wrong-host': 'error',
  untrusted: 'error',
}

/** How severe the state of a certificate is. */
export const certificateSeverity = (state: CertificateState): Severity => SEVERITY[state]

type AlertText = { title: string; text: string; nextStep: string }

const RENEW =
  'Renew it, and check why automatic renewal failed. On most servers: `certbot renew`, then reload the service.'

/** The certificate that ends first: the server’s own, or one of its issuers. */
function subjectOf(place: string, { endsWith }: CertificateDetail): string {
  return endsWith === undefined
    ? `The certificate of ${place}`
    : `The issuer certificate “${endsWith}” of ${place}`
}

function renew({ endsWith }: CertificateDetail): string {
  return endsWith === undefined
    ? RENEW
    : 'Install the current chain of the certificate authority (fullchain.pem), then reload the service.'
}

const TEXTS: Record<
  CertificateState,
  (place: string, detail: CertificateDetail, days: number) => AlertText
> = {
  valid: (place) => ({
    title: `Resolved: the certificate of ${place} is valid again`,
    text: `The certificate of ${place} is valid again.`,
    nextStep: '',
  }),
  expiring: (place, detail, days) => ({
    title: `${subjectOf(place, detail)} expires in ${count(days)}`,
    text: `${subjectOf(place, detail)} expires in ${count(days)}. ${detail.endsWith === undefined ? 'Automatic renewal' : 'A current chain'} should have replaced it by now.`,
    nextStep: renew(detail),
  }),
  'expiring-soon': (place, detail, days) => ({
    title: `${subjectOf(place, detail)} expires in ${count(days)}`,
    text: `${subjectOf(place, detail)} expires in ${count(days)}. Browsers and mail servers will then refuse to connect.`,
    nextStep: renew(detail),
  }),
  expired: (place, detail) => ({
    title: `${subjectOf(place, detail)} has expired`,
    text: `${subjectOf(place, detail)} has expired. Browsers refuse to connect, and mail clients show warnings.`,
    nextStep: renew(detail),
  }),
  'not-yet-valid': (place, { validFrom }) => ({
    title: `The certificate of ${place} is not valid yet`,
    text: `The certificate of ${place} becomes valid on ${validFrom.slice(0, 10)} (UTC).`,
    nextStep: 'Restore the previous certificate, or check the clock of the issuing system.',
  }),
  'wrong-host': (place, { names }) => ({
    title: `The certificate of ${place} is for another host`,
    text: `The certificate of ${place} is valid for ${names.slice(0, 5).join(', ') || 'no host name'}.`,
    nextStep: 'Install the certificate for this name, or request one that covers both names.',
  }),
  untrusted: (place, { trustError, trustReason }) => ({
    title: `The certificate of ${place} is not trusted`,
    text: `The certificate chain of ${place} is not trusted (${trustError ?? 'no reason given'}). ${trustReason ?? ''}`.trim(),
    nextStep: trustReason
      ? 'Replace the certificate or its chain as described, then reload the service.'
      : 'Install the full chain (fullchain.pem), not only the server’s own certificate.',
  }),
}

function count(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

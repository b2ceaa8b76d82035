import type { NewAlert } from '../../alerts/raise.ts'
import type { Fact } from '../facts/judge.ts'
import type { HostRow } from '../store.ts'
import type { CertificateDetail, CertificateState } from './look.ts'

export type CertificateChange = {
  port: number
  from: CertificateState
  to: CertificateState
  fact: Fact<CertificateDetail>
}

/** What a person is told when the certificate of a port became another's worry, or none any more. */
export function certificateAlert({ id, host, accountId }: HostRow, change: CertificateChange, at: Date): NewAlert {
  const { port, to, fact } = change
  const { title, text, nextStep } = WORDS[to](`${host}, port ${port}`, fact.detail, daysLeft(fact.detail, at))
  return {
    accountId,
    kind: to === 'valid' ? 'certificate.valid' : `certificate.${to}`,
    key: `certificate ${accountId} ${host} ${port} ${to} ${fact.detail.fingerprint256} ${fact.since.toISOString()}`,
    title,
    text: `${text}\nIssued by ${fact.detail.issuer || 'somebody without a name'}, valid until ${day(fact.detail)}.`,
    nextStep,
    path: `/monitoring/${id}`,
    at,
  }
}

/** Whole days, rounded down. */
export function daysLeft({ validTo }: CertificateDetail, at: Date): number {
  return Math.floor((Date.parse(validTo) - at.getTime()) / 86_400_000)
}

function day({ validTo }: CertificateDetail): string {
  return validTo.slice(0, 10)
}

type Words = { title: string; text: string; nextStep: string }

const RENEW =
  'Renew it, and see why it did not renew itself: on most servers `certbot renew` or the like, then a reload.'

const WORDS: Record<CertificateState, (where: string, detail: CertificateDetail, days: number) => Words> = {
  valid: (where) => ({
    title: `The certificate of ${where} is in order again`,
    text: `What was wrong with the certificate of ${where} is mended.`,
    nextStep: '',
  }),
  expiring: (where, _detail, days) => ({
    title: `The certificate of ${where} expires in ${count(days)}`,
    text: `The certificate of ${where} is valid for ${count(days)} more. If it renews itself, it should have by now.`,
    nextStep: RENEW,
  }),
  'expiring-soon': (where, _detail, days) => ({
    title: `The certificate of ${where} expires in ${count(days)}`,
    text: `The certificate of ${where} is valid for ${count(days)} more. Then browsers and mail servers refuse to connect.`,
    nextStep: RENEW,
  }),
  expired: (where) => ({
    title: `The certificate of ${where} has expired`,
    text: `The certificate of ${where} is not valid any more: browsers refuse to connect, mail programs complain.`,
    nextStep: RENEW,
  }),
  'not-yet-valid': (where, { validFrom }) => ({
    title: `The certificate of ${where} is not valid yet`,
    text: `The certificate of ${where} is valid only from ${validFrom.slice(0, 10)} on.`,
    nextStep: 'Put back the one before it, or see whether the clock of its maker is right.',
  }),
  'wrong-host': (where, { names }) => ({
    title: `The certificate of ${where} is for another host`,
    text: `The certificate of ${where} is for ${names.slice(0, 5).join(', ') || 'no name at all'}.`,
    nextStep: 'Install the certificate that was made for this name, or have one made for both.',
  }),
  untrusted: (where, { trustError }) => ({
    title: `The certificate of ${where} is not trusted`,
    text: `The chain of the certificate of ${where} does not lead to a known root (${trustError ?? 'no reason given'}).`,
    nextStep: 'Install the full chain (fullchain.pem), not the server’s certificate alone.',
  }),
}

function count(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

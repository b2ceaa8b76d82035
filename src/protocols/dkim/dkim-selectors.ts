import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../version.ts'

/** A selector in use somewhere, and by whom. */
export type KnownSelector = { selector: string; provider: string }

/** Selectors that many domains use, the most frequent first (`data/dkim-selectors.json`). */
export const KNOWN_SELECTORS: readonly KnownSelector[] = JSON.parse(
  readFileSync(join(ROOT, 'data', 'dkim-selectors.json'), 'utf8'),
)

/** A provider that sends or receives mail for others, and the DNS records that reveal it. */
export type Provider = {
  name: string
  /** Ends of MX host names. */
  mx?: string[]
  /** Ends of names in SPF includes. */
  spf?: string[]
  /** The include that customers publish. */
  include?: string
  selectors?: string[]
  /** Why its selectors cannot be guessed. */
  unguessable?: string
}

const PROVIDERS: Provider[] = [
  {
    name: 'Google Workspace',
    mx: ['google.com', 'googlemail.com'],
    spf: ['_spf.google.com'],
    include: '_spf.google.com',
    selectors: ['google'],
  },
  {
    name: 'Microsoft 365',
    mx: ['mail.protection.outlook.com', 'mx.microsoft'],
    spf: ['protection.outlook.com'],
    include: 'spf.protection.outlook.com',
    selectors: ['selector1', 'selector2'],
  },
  {
    name: 'Zoho Mail',
    mx: ['zoho.com', 'zoho.eu', 'zoho.in'],
    spf: ['zoho.com', 'zoho.eu', 'zohomail.com'],
    selectors: ['zmail', 'zoho', 'zohomail'],
  },
  {
    name: 'Fastmail',
    mx: ['messagingengine.com'],
    spf: ['messagingengine.com'],
    include: 'spf.messagingengine.com',
    selectors: ['fm1', 'fm2', 'fm3', 'fm4', 'mesmtp'],
  },
  {
    name: 'Proton Mail',
    mx: ['protonmail.ch'],
    spf: ['protonmail.ch'],
    include: '_spf.protonmail.ch',
    selectors: ['protonmail', 'protonmail2', 'protonmail3'],
  },
  {
    name: 'iCloud',
    mx: ['mail.icloud.com'],
    spf: ['icloud.com'],
    include: 'icloud.com',
    selectors: ['sig1'],
  },
  {
    name: 'mailbox.org',
    mx: ['mailbox.org'],
    spf: ['mailbox.org'],
    include: 'mailbox.org',
    selectors: ['MBO0001', 'MBO0002', 'MBO0003', 'MBO0004'],
  },
  {
    name: 'IONOS',
    mx: ['ionos.com', 'ionos.de', 'kundenserver.de'],
    selectors: ['s1-ionos', 's2-ionos', 's42582890'],
  },
  { name: 'STRATO', mx: ['rzone.de'], selectors: ['strato-dkim-0002', 'strato-dkim-0003'] },
  { name: 'Gandi Mail', mx: ['gandi.net'], spf: ['gandi.net'], selectors: ['gm1', 'gm2', 'gm3'] },
  { name: 'Migadu', mx: ['migadu.com'], spf: ['migadu.com'], selectors: ['key1', 'key2', 'key3'] },
  {
    name: 'Hostinger',
    mx: ['hostinger.com'],
    selectors: ['hostingermail-a', 'hostingermail-b', 'hostingermail-c'],
  },
  { name: 'Titan', mx: ['titan.email'], spf: ['titan.email'], selectors: ['titan1', 'titan2'] },
  {
    name: 'Yandex 360',
    mx: ['yandex.net', 'yandex.ru'],
    spf: ['yandex.net', 'yandex.ru'],
    selectors: ['mail'],
  },
  { name: 'Cloudflare Email Routing', mx: ['mx.cloudflare.net'], selectors: ['cf2024-1'] },
  { name: 'SendGrid', spf: ['sendgrid.net'], selectors: ['s1', 's2', 'smtpapi', 'm1'] },
  { name: 'Mailchimp', spf: ['mcsv.net'], selectors: ['k1', 'k2', 'k3'] },
  {
    name: 'Mailchimp Transactional',
    spf: ['mandrillapp.com'],
    selectors: ['mte1', 'mte2', 'mandrill'],
  },
  {
    name: 'Mailgun',
    mx: ['mailgun.org'],
    spf: ['mailgun.org'],
    selectors: ['pic', 'mailo', 'krs', 'mx', 'mta', 'email', 'smtp', 'pdk1', 'pdk2', 'mg', 'k1'],
  },
  { name: 'Brevo', spf: ['sendinblue.com', 'brevo.com'], selectors: ['brevo1', 'brevo2', 'mail'] },
  { name: 'Mailjet', spf: ['mailjet.com'], selectors: ['mailjet'] },
  { name: 'Zendesk', spf: ['zendesk.com'], selectors: ['zendesk1', 'zendesk2'] },
  { name: 'Amazon SES', spf: ['amazonses.com'], unguessable: 'three random names a domain' },
  { name: 'Postmark', spf: ['mtasv.net'], selectors: ['pm'], unguessable: 'a date and “pm”' },
  { name: 'SparkPost', spf: ['sparkpostmail.com'], unguessable: '“scph” and a date' },
  {
    name: 'HubSpot',
    spf: ['hubspotemail.net'],
    selectors: ['hs1', 'hs2'],
    unguessable: 'hs1 and hs2 with an account number',
  },
  { name: 'SMTP2GO', spf: ['smtp2go.com'], unguessable: '“s” and a number' },
  {
    name: 'Mimecast',
    mx: ['mimecast.com'],
    spf: ['mimecast.com'],
    unguessable: '“mimecast” and a date',
  },
  { name: 'Salesforce', spf: ['salesforce.com'], unguessable: 'chosen in its settings' },
  {
    name: 'OVHcloud',
    mx: ['ovh.net', 'ovh.com'],
    spf: ['mx.ovh.com'],
    unguessable: '“ovhmo” and a number',
  },
]

/** The providers that MX host names and the names in SPF includes show. */
export function providersOf(exchanges: string[], includes: string[]): Provider[] {
  return PROVIDERS.filter(({ mx, spf }) => isUnder(exchanges, mx) || isUnder(includes, spf))
}

function isUnder(names: string[], ends: string[] = []): boolean {
  return names.some((name) => ends.some((end) => name === end || name.endsWith(`.${end}`)))
}

/**
 * The selectors to try, each once: the asked-for ones, the providers', then the known ones by
 * frequency.
 */
export function selectorsToTry(asked: string[], providers: Provider[]): string[] {
  const hinted = providers.flatMap(({ selectors }) => selectors ?? [])
  const all = [...asked, ...hinted, ...KNOWN_SELECTORS.map(({ selector }) => selector)]
  const seen = new Set<string>()
  return all.filter(
    (selector) => !seen.has(selector.toLowerCase()) && seen.add(selector.toLowerCase()),
  )
}

const providerBySelector = new Map(
  KNOWN_SELECTORS.map(({ selector, provider }) => [selector.toLowerCase(), provider]),
)

/** The provider that uses this selector; null when none is known. */
export function providerOfSelector(selector: string): string | null {
  return providerBySelector.get(selector.toLowerCase()) ?? null
}

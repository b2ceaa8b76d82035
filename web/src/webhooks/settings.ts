import type { Endpoint, Settings } from './api.ts'

export type Scheme = NonNullable<Endpoint['signature']>['scheme']

/** How senders sign, in the words of those who set it up. */
export const SCHEMES: { value: Scheme | ''; label: string }[] = [
  { value: '', label: 'Do not check' },
  { value: 'github', label: 'GitHub' },
  { value: 'stripe', label: 'Stripe' },
  { value: 'standard', label: 'Standard Webhooks, Svix' },
  { value: 'slack', label: 'Slack' },
  { value: 'shopify', label: 'Shopify' },
  { value: 'hmac', label: 'Another HMAC' },
]

/** The fields of the form as the API takes them. */
export function settingsOf(values: Record<string, string>): Settings {
  return {
    label: (values['label'] ?? '').trim(),
    responseStatus: Number(values['responseStatus']),
    responseType: (values['responseType'] ?? '').trim(),
    // Browsers send the line breaks of a text area as CRLF; what was typed has LF.
    responseBody: (values['responseBody'] ?? '').replaceAll('\r\n', '\n'),
    template: values['template'] === 'on',
    cors: values['cors'] === 'on',
    timeout: Number(values['timeout'] || '0'),
    signature: signatureOf(values),
  }
}

function signatureOf(values: Record<string, string>): NonNullable<Settings['signature']> | null {
  const scheme = (values['signature.scheme'] ?? '') as Scheme | ''
  if (scheme === '') return null
  const secret = values['signature.secret'] ?? ''
  const given = secret === '' ? {} : { secret }
  if (scheme !== 'hmac') return { scheme, ...given }
  return {
    scheme,
    ...given,
    header: (values['signature.header'] ?? '').trim(),
    prefix: values['signature.prefix'] ?? '',
    algorithm: values['signature.algorithm'] as 'sha256',
    encoding: values['signature.encoding'] as 'hex',
  }
}

/** What is wrong before anything is sent, by field. */
export function wrongSettings(values: Record<string, string>, before: Endpoint): Record<string, string> {
  const status = Number(values['responseStatus'])
  const timeout = Number(values['timeout'] || '0')
  const scheme = values['signature.scheme'] ?? ''
  const isNewScheme = scheme !== '' && scheme !== before.signature?.scheme
  return {
    ...(!(Number.isInteger(status) && status >= 200 && status <= 599) && {
      responseStatus: 'Type a status from 200 to 599.',
    }),
    ...(!(timeout >= 0 && timeout <= 30) && { timeout: 'Type seconds from 0 to 30.' }),
    ...(isNewScheme &&
      !values['signature.secret'] && { 'signature.secret': 'Paste the secret that the sender shows.' }),
    ...(scheme === 'hmac' && !values['signature.header']?.trim() && { 'signature.header': 'Name the header.' }),
  }
}

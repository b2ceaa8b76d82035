import { labelsOf, wrongLabels } from '../labels/labels.ts'
import { counted, durationText } from '../ui/text/format.ts'
import type { Endpoint, EndpointSettings } from './api.ts'
import { ruleForm, settings } from './messages.ts'

export type Scheme = NonNullable<Endpoint['signature']>['scheme']

/** The signature schemes, with the names that their users know. */
export const SCHEMES: { value: Scheme | ''; label: string }[] = [
  { value: '', label: settings.schemes.none },
  { value: 'github', label: settings.schemes.github },
  { value: 'stripe', label: settings.schemes.stripe },
  { value: 'standard', label: settings.schemes.standard },
  { value: 'slack', label: settings.schemes.slack },
  { value: 'shopify', label: settings.schemes.shopify },
  { value: 'hmac', label: settings.schemes.hmac },
]

/** The fields of the form as the API takes them. */
export function parseSettings(values: Record<string, string>): EndpointSettings {
  return {
    label: (values['label'] ?? '').trim(),
    labels: labelsOf(values['labels']),
    name: (values['name'] ?? '').trim() || null,
    responseStatus: Number(values['responseStatus']),
    responseHeaders: parseHeaders(values['responseHeaders'] ?? '') ?? [],
    responseType: (values['responseType'] ?? '').trim(),
    // Browsers send the line breaks of a text area as CRLF; the user typed LF.
    responseBody: (values['responseBody'] ?? '').replaceAll('\r\n', '\n'),
    template: values['template'] === 'on',
    cors: values['cors'] === 'on',
    receivesEmail: values['receivesEmail'] === 'on',
    timeout: Number(values['timeout'] || '0'),
    repeatKey: (values['repeatKey'] ?? '').trim() || null,
    signature: signatureOf(values),
    alerts: alertsOf(values),
  }
}

/** Headers of a text with one in each line; null when a line is none. */
export function parseHeaders(text: string): [string, string][] | null {
  const headers = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line))
  if (headers.includes(null)) return null
  return headers.map((match): [string, string] => [match?.[1] ?? '', match?.[2] ?? ''])
}

/** Headers, one in each line. */
export const headersText = (headers: readonly (readonly [string, string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n')

function alertsOf(values: Record<string, string>): NonNullable<EndpointSettings['alerts']> {
  const minutes = (name: string) => (values[name] ? Number(values[name]) : null)
  return {
    calledEveryMinutes: minutes('alerts.calledEveryMinutes'),
    silentAfterMinutes: minutes('alerts.silentAfterMinutes'),
    badSignature: values['alerts.badSignature'] === 'on' && values['signature.scheme'] !== '',
  }
}

type Choice = { value: string; label: string }

const HOUR = 60
const DAY = 24 * HOUR

/** Minutes that are offered, with the current one of the endpoint, which the API may have set. */
function minuteChoices(
  none: string,
  minutes: number[],
  current: number | null,
  label: (duration: string) => string,
): Choice[] {
  const all = current === null ? minutes : [...new Set([...minutes, current])]
  return [
    { value: '', label: none },
    ...all
      .toSorted((a, b) => a - b)
      .map((count) => ({ value: String(count), label: label(intervalText(count)) })),
  ]
}

/** Days from two of them on: nobody reads 168 hours. */
const intervalText = (minutes: number) =>
  minutes >= 2 * DAY && minutes % DAY === 0
    ? counted(minutes / DAY, 'day')
    : durationText(minutes * 60)

export const calledChoices = (current: number | null) =>
  minuteChoices(settings.noAlert, [15, HOUR, 6 * HOUR, DAY, 7 * DAY], current, settings.every)

export const silentChoices = (current: number | null) =>
  minuteChoices(
    settings.noAlert,
    [15, 30, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY],
    current,
    settings.after,
  )

function signatureOf(
  values: Record<string, string>,
): NonNullable<EndpointSettings['signature']> | null {
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

/** Finds invalid settings before they are sent, by field. */
export function validateSettings(
  values: Record<string, string>,
  before: Endpoint,
): Record<string, string> {
  const status = Number(values['responseStatus'])
  const timeout = Number(values['timeout'] || '0')
  const scheme = values['signature.scheme'] ?? ''
  const isNewScheme = scheme !== '' && scheme !== before.signature?.scheme
  return {
    ...wrongLabels(values),
    ...(!(Number.isInteger(status) && status >= 200 && status <= 599) && {
      responseStatus: settings.wrongStatus,
    }),
    ...(parseHeaders(values['responseHeaders'] ?? '') === null && {
      responseHeaders: ruleForm.wrongHeader,
    }),
    ...(!(timeout >= 0 && timeout <= 30) && { timeout: settings.wrongDelay }),
    ...(isNewScheme &&
      !values['signature.secret'] && { 'signature.secret': settings.missingSecret }),
    ...(scheme === 'hmac' &&
      !values['signature.header']?.trim() && { 'signature.header': settings.missingHeader }),
  }
}

import type { Destination } from '../api.ts'
import { parseHeaders } from '../endpoint-settings.ts'
import { destinationForm as messages, ruleForm } from '../messages.ts'

type Values = Record<string, string>

/** The values of the form as the API takes them. */
export function parseDestination(values: Values) {
  const mode = (values['order.mode'] ?? 'none') as Destination['order']['mode']
  const perMinute = values['perMinute']?.trim() ?? ''
  return {
    label: (values['label'] ?? '').trim(),
    url: (values['url'] ?? '').trim(),
    sign: (values['sign'] ?? 'standard') as Destination['sign'],
    order: { mode, key: mode === 'key' ? (values['order.key'] ?? '').trim() : null },
    concurrency: Number(values['concurrency']),
    perMinute: perMinute === '' ? null : Number(perMinute),
    timeoutSeconds: Number(values['timeoutSeconds']),
    headers: parseHeaders(values['headers'] ?? '') ?? [],
    when: JSON.parse(values['when'] || '{}') as Destination['when'],
    finalStatuses: statusesOf(values['finalStatuses'] ?? '') ?? [],
    change: values['change']?.trim()
      ? (JSON.parse(values['change']) as Destination['change'])
      : null,
    skipRepeats: values['skipRepeats'] === 'on',
  }
}

/** Finds invalid values before they are sent, by field. */
export function validateDestination(values: Values): Values {
  const wrong: Values = {}
  const check = (name: string, isRight: boolean, message: string) => {
    if (!isRight) wrong[name] = message
  }
  const isNumber = (name: string, min: number, max: number) =>
    check(name, isBetween(values[name] ?? '', min, max), messages.wrongNumber(min, max))
  check('url', /^https?:\/\/\S+$/i.test(values['url']?.trim() ?? ''), messages.missingUrl)
  isNumber('concurrency', 1, 50)
  isNumber('timeoutSeconds', 1, 60)
  if (values['perMinute']?.trim()) isNumber('perMinute', 1, 60_000)
  check('headers', parseHeaders(values['headers'] ?? '') !== null, ruleForm.wrongHeader)
  check('when', isJsonObject(values['when'] || '{}'), ruleForm.wrongJson)
  check('change', isJsonObject(values['change']?.trim() || '{}'), ruleForm.wrongJson)
  const statuses = statusesOf(values['finalStatuses'] ?? '')
  check('finalStatuses', statuses !== null, messages.wrongStatuses)
  if (values['order.mode'] === 'key')
    check('order.key', Boolean(values['order.key']?.trim()), ruleForm.missingName)
  return wrong
}

function statusesOf(text: string): number[] | null {
  const parts = text.split(/[\s,]+/).filter(Boolean)
  return parts.every((part) => isBetween(part, 400, 599)) ? parts.map(Number) : null
}

function isBetween(text: string, min: number, max: number): boolean {
  const number = Number(text)
  return text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** The name of a destination: its label, or the host of its URL. */
export function destinationName({ label, url }: Pick<Destination, 'label' | 'url'>): string {
  return label || new URL(url).host
}

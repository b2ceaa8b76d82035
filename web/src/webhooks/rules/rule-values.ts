import type { NewRuleSettings, Rule } from '../api.ts'
import { parseHeaders } from '../endpoint-settings.ts'
import { RULE_FIELDS, ruleForm } from '../messages.ts'

type When = Rule['when']
type Answer = Rule['answers'][number]

/** A condition as the fields of a form. */
export type ConditionRow = { field: string; name: string; operator: string; value: string }

/** Form fields of a condition and of an answer. */
export const fields = {
  condition: (row: number, part: keyof ConditionRow) => `when.${row}.${part}`,
  answer: (row: number, part: string) => `answers.${row}.${part}`,
}

/** Fields with a name of their own behind them. */
export const isNamed = (field: string): boolean => /[./]$/.test(field)

/** Conditions as rows of a form; null when they need JSON. */
export function rowsOf(when: When): ConditionRow[] | null {
  const parts = '$and' in when && Object.keys(when).length === 1 ? when['$and'] : [when]
  const rows: ConditionRow[] = []
  for (const part of parts as When[])
    for (const [key, value] of Object.entries(part)) {
      const row = rowOf(key, value)
      if (row === null) return null
      rows.push(row)
    }
  return rows
}

function rowOf(key: string, value: unknown): ConditionRow | null {
  const field = RULE_FIELDS.map((one) => one.value)
    .filter((one) => (isNamed(one) ? key.startsWith(one) : key === one))
    .toSorted((a, b) => b.length - a.length)[0]
  if (field === undefined) return null
  const name = key.slice(field.length)
  const isObject = typeof value === 'object' && value !== null
  const [[operator, operand] = ['', null], ...more] = isObject
    ? Object.entries(value as Record<string, unknown>)
    : [['$eq', value] as [string, unknown]]
  if (more.length > 0 || operator === '$nin') return null
  if (operator === '$exists')
    return { field, name, operator: operand === true ? '$exists' : '$missing', value: '' }
  if (Array.isArray(operand) && operand.some((one) => String(one).includes(','))) return null
  const text = Array.isArray(operand) ? operand.join(', ') : String(operand)
  return { field, name, operator, value: text }
}

/** The conditions of rows. Several of one field are combined with `$and`. */
function whenOf(rows: ConditionRow[]): When {
  const parts = rows.map(partOf)
  const keys = new Set(parts.flatMap((part) => Object.keys(part)))
  return keys.size === parts.length ? Object.assign({}, ...parts) : { $and: parts }
}

function partOf({ field, name, operator, value }: ConditionRow): When {
  const key = isNamed(field)
    ? field + name.trim().replace(field === 'body/' ? /^\// : '', '')
    : field
  if (operator === '$exists' || operator === '$missing')
    return { [key]: { $exists: operator === '$exists' } }
  const parse = (text: string) => parseValue(field, operator, text)
  const operand =
    operator === '$in' ? value.split(',').map((one) => parse(one.trim())) : parse(value)
  return { [key]: operator === '$eq' ? operand : { [operator]: operand } }
}

const LITERALS: Record<string, unknown> = { true: true, false: false, null: null }

function parseValue(field: string, operator: string, text: string): unknown {
  const isJson = field === 'body/' || field === 'verified'
  if (isJson && Object.hasOwn(LITERALS, text)) return LITERALS[text]
  const isOrdered = /^\$[gl]te?$/.test(operator)
  return isOrdered && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

export const delayText = (delayMs: Answer['delayMs']): string =>
  typeof delayMs === 'number' ? String(delayMs) : `${delayMs.min}-${delayMs.max}`

function parseDelay(text: string): Answer['delayMs'] | null {
  const match = /^\s*(\d{1,5})\s*(?:[-–]\s*(\d{1,5})\s*)?$/.exec(text)
  if (!match) return text.trim() === '' ? 0 : null
  const [min, max] = [Number(match[1]), match[2] === undefined ? null : Number(match[2])]
  if (Math.max(min, max ?? 0) > 30_000 || (max !== null && max < min)) return null
  return max === null ? min : { min, max }
}

type Sizes = { conditions: number; answers: number; isJson: boolean }
type Values = Record<string, string>

function rowsIn(values: Values, { conditions }: Sizes): ConditionRow[] {
  return Array.from({ length: conditions }, (_, row) => {
    const read = (part: keyof ConditionRow) => values[fields.condition(row, part)] ?? ''
    return {
      field: read('field'),
      name: read('name'),
      operator: read('operator'),
      value: read('value'),
    }
  })
}

/** The values of the form as the API takes them. */
export function parseRule(values: Values, sizes: Sizes): NewRuleSettings {
  const key = (values['key'] ?? '').trim()
  return {
    label: (values['label'] ?? '').trim(),
    when: sizes.isJson
      ? (JSON.parse(values['when'] || '{}') as When)
      : whenOf(rowsIn(values, sizes)),
    answers: Array.from({ length: sizes.answers }, (_, row) => {
      const read = (part: string) => values[fields.answer(row, part)] ?? ''
      return {
        status: Number(read('status')),
        type: read('type').trim() || 'text/plain; charset=utf-8',
        body: read('body').replaceAll('\r\n', '\n'),
        headers: parseHeaders(read('headers')) ?? [],
        template: read('template') === 'on',
        delayMs: parseDelay(read('delayMs')) ?? 0,
        fault: (read('fault') || null) as Answer['fault'],
        times: Number(read('times') || '1'),
      }
    }),
    ...(sizes.answers > 1 && {
      after: values['after'] as 'last',
      key: key === '' ? null : key,
      keyMinutes: Number(values['keyMinutes'] || '60'),
    }),
  }
}

/** Finds invalid values before they are sent, by field. */
export function validateRule(values: Values, sizes: Sizes): Values {
  const wrong: Values = {}
  if (sizes.isJson && !isJsonObject(values['when'] || '{}')) wrong['when'] = ruleForm.wrongJson
  if (!sizes.isJson)
    rowsIn(values, sizes).forEach(({ field, name }, row) => {
      if (isNamed(field) && name.trim() === '')
        wrong[fields.condition(row, 'name')] = ruleForm.missingName
    })
  for (let row = 0; row < sizes.answers; row++) {
    const read = (part: string) => values[fields.answer(row, part)] ?? ''
    const check = (part: string, isRight: boolean, message: string) => {
      if (!isRight) wrong[fields.answer(row, part)] = message
    }
    check('status', isBetween(read('status'), 200, 599), ruleForm.wrongStatus)
    check('times', isBetween(read('times') || '1', 1, 1_000), ruleForm.wrongTimes)
    check('delayMs', parseDelay(read('delayMs')) !== null, ruleForm.wrongDelay)
    check('headers', parseHeaders(read('headers')) !== null, ruleForm.wrongHeader)
  }
  if (!isBetween(values['keyMinutes'] || '60', 1, 10_080))
    wrong['keyMinutes'] = ruleForm.wrongMinutes
  return wrong
}

function isBetween(text: string, min: number, max: number): boolean {
  const number = Number(text)
  return Number.isInteger(number) && number >= min && number <= max
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** A rule in a line: its conditions and its answers. */
export function describeRule({ when, answers, key }: Rule): { when: string; answers: string } {
  const isAlways = Object.keys(when).length === 0
  const each = answers.map(({ status, fault, times }) => {
    const what = fault === null ? String(status) : fault
    return times > 1 ? `${what} × ${times}` : what
  })
  return {
    when: isAlways ? '' : JSON.stringify(when),
    answers: each.join(' → ') + (key === null || answers.length === 1 ? '' : ` (${key})`),
  }
}

import type { AlertChannelType, ChannelField, NewAlertChannel } from '../api.ts'
import { field as messages } from './messages.ts'
import { sendingOf } from './sending.ts'

/** Values of a form by field name. */
type Values = Record<string, string>

/** The form’s name of a field: its path in the request, so that the API’s errors find it. */
export function fieldName({ hasSettings }: AlertChannelType, { name }: ChannelField): string {
  return hasSettings ? `settings.${name}` : name
}

/** Name of the checkbox that removes a saved value. */
export const removalName = ({ name }: ChannelField) => `remove ${name}`

/** Request body of a new channel. */
export function newChannelOf(type: AlertChannelType, values: Values): NewAlertChannel {
  const filled = type.fields.flatMap((field) => {
    const value = values[fieldName(type, field)]?.trim() ?? ''
    return value === '' ? [] : [[field.name, value]]
  })
  const fields = Object.fromEntries(filled) as Values
  const body = type.hasSettings ? { settings: fields } : fields
  // Which fields a type has is known at run time only.
  return { type: type.id, ...body, ...sendingOf(values, null, type) } as unknown as NewAlertChannel
}

/**
 * The changed settings of a channel: secrets only where a new one was entered, or the saved one
 * removed.
 */
export function changedSettings(type: AlertChannelType, shown: Values, values: Values): Values {
  const changes = type.fields.flatMap((field) => {
    const value = values[fieldName(type, field)]?.trim() ?? ''
    if (values[removalName(field)] === 'on') return [[field.name, '']]
    if (field.secret) return value === '' ? [] : [[field.name, value]]
    return value === (shown[field.name] ?? '') ? [] : [[field.name, value]]
  })
  return Object.fromEntries(changes) as Values
}

type Property = { pattern?: string; maxLength?: number }

/**
 * Error messages by field, as the API would reject the values.
 * @param saved names of fields that keep their secret where nothing is entered
 */
export function wrongValues(
  type: AlertChannelType,
  values: Values,
  saved: ReadonlySet<string> = new Set(),
): Values {
  const { properties = {} } = type.schema as { properties?: Record<string, Property> }
  const problems = type.fields.flatMap((field) => {
    const value = values[fieldName(type, field)]?.trim() ?? ''
    const isKept = value === '' && saved.has(field.name)
    const problem = isKept ? null : problemWith(field, value, properties[field.name] ?? {})
    return problem === null ? [] : [[fieldName(type, field), problem]]
  })
  return Object.fromEntries(problems) as Values
}

function problemWith(field: ChannelField, value: string, property: Property): string | null {
  if (value === '') return field.required ? messages.required(field) : null
  const { maxLength = Infinity, pattern } = property
  if (value.length > maxLength) return messages.tooLong(maxLength)
  return pattern === undefined || matches(pattern, value) ? null : messages.invalid(field)
}

/** A pattern that this browser cannot read is left to the API. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}

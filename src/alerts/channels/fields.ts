import { Type, type TObject } from 'typebox'

/** What the form shows beside a field. */
export type FieldTexts = {
  label: string
  help?: string
  placeholder?: string
  /** Whether it has several lines, such as the body of a request. */
  isMultiline?: boolean
}

type Length = { minLength?: number; maxLength?: number; pattern?: string }

const shown = ({ label, help, placeholder, isMultiline = false }: FieldTexts) => ({
  // Not `title`, which names a component of the API document.
  'x-label': label,
  ...(help !== undefined && { description: help }),
  ...(placeholder !== undefined && { 'x-placeholder': placeholder }),
  ...(isMultiline && { 'x-multiline': true }),
})

/** A text that everyone in the workspace may see. */
export const Text = (texts: FieldTexts, limits: Length = {}) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\p{Cc}]*$',
    ...limits,
    ...shown(texts),
  })

/** A text that is encrypted and never shown again: a token, or a URL that anyone can post to. */
export const Secret = (texts: FieldTexts, limits: Length = {}) =>
  Type.String({
    minLength: 1,
    maxLength: 2000,
    pattern: '^[\\x21-\\x7e]*$',
    ...limits,
    ...shown(texts),
    format: 'password',
    writeOnly: true,
  })

/**
 * The URL of a server that users may run themselves, also inside their network.
 * @param url the usual server; null where there is none
 */
export const SelfHosted = (url: string | null, texts: FieldTexts) =>
  Type.String({
    maxLength: 500,
    pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
    ...(url !== null && { default: url }),
    ...shown(texts),
    format: 'uri',
  })

/** The URL of a webhook of such a server, which is a secret: anyone who knows it can post. */
export const SelfHostedSecret = (texts: FieldTexts, limits: Length = {}) =>
  Type.String({
    maxLength: 1000,
    pattern: '^https?://[^\\s/?#@]+/[\\x21-\\x7e]+$',
    ...limits,
    ...shown(texts),
    format: 'uri',
    writeOnly: true,
  })

/** One of several values; the first is the default. */
export const OneOf = <T extends string>(values: [T, ...T[]], texts: FieldTexts) =>
  Type.Enum(values, { default: values[0], ...shown(texts) })

type FieldSchema = { format?: string; writeOnly?: boolean; default?: unknown }

const fieldsOf = (fields: TObject) => Object.entries(fields.properties) as [string, FieldSchema][]

/** The names of the fields that are secret. */
export function secretsOf(fields: TObject): string[] {
  return fieldsOf(fields).flatMap(([name, { writeOnly }]) => (writeOnly ? [name] : []))
}

/** The names of the fields with the URL of a server that users may run themselves. */
export function selfHostedOf(fields: TObject): string[] {
  return fieldsOf(fields).flatMap(([name, { format }]) => (format === 'uri' ? [name] : []))
}

/** The fields of a request, which may omit those with a default. */
export function requestOf(fields: TObject): TObject {
  const required = new Set(fields.required as readonly string[] | undefined)
  return Type.Object(
    Object.fromEntries(
      Object.entries(fields.properties).map(([name, field]) => [
        name,
        required.has(name) && !('default' in field) ? field : Type.Optional(field),
      ]),
    ),
  )
}

/** The given settings and the defaults of those that are not. */
export function withDefaults(fields: TObject, given: Settings): Settings {
  const defaults = fieldsOf(fields).flatMap(([name, { default: value }]) =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  return { ...(Object.fromEntries(defaults) as Settings), ...given }
}

/** Values of the fields of a channel type, by name. */
export type Settings = Record<string, string>

/** What may be shown: secrets as their last four characters, URLs with their host. */
export function maskSettings(fields: TObject, settings: Settings): Settings {
  const secrets = new Set(secretsOf(fields))
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      secrets.has(name) ? mask(value) : value,
    ]),
  )
}

/** Secrets shorter than this show nothing: four characters would be too many of them. */
const MIN_LENGTH_TO_SHOW = 12

function mask(secret: string): string {
  const end = secret.length < MIN_LENGTH_TO_SHOW ? '' : secret.slice(-4)
  return URL.canParse(secret) ? `${new URL(secret).host} · …${end}` : `…${end}`
}

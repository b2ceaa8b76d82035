import type { Operation } from '../document/reference.ts'

/** What a person typed into the form. Names of parameters are prefixed with their place. */
export type TrialValues = {
  parameters: Record<string, string>
  /** Text of the body, or a file. */
  body: string | File | null
  /** Media type of the body. */
  type: string
  token: string
}

export const parameterKey = ({ in: place, name }: { in: string; name: string }) =>
  `${place} ${name}`

/** Names of required parameters without a value, and of a missing body. */
export function missingValues({ parameters }: Operation, values: TrialValues): string[] {
  return parameters
    .filter((parameter) => parameter.required && !values.parameters[parameterKey(parameter)])
    .map(({ name }) => name)
}

/** Whether the body is text of the type that it claims. */
export function isValidBody({ body, type }: TrialValues): boolean {
  if (type !== 'application/json' || typeof body !== 'string') return true
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

/** The request as `fetch` takes it. The path is of the same origin. */
export function trialRequest(
  { method, path, parameters, body: contents }: Operation,
  values: TrialValues,
): { url: string; init: RequestInit } {
  const value = (place: string, name: string) =>
    values.parameters[parameterKey({ in: place, name })] ?? ''
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(value('path', name)),
  )
  const given = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place && value(place, parameter.name) !== '')
      .map(({ name }) => [name, value(place, name)])
  const query = new URLSearchParams(given('query')).toString()
  const headers = new Headers(given('header') as [string, string][])
  if (values.token !== '') headers.set('authorization', `Bearer ${values.token}`)
  const hasBody = contents.length > 0 && values.body !== null && values.body !== ''
  if (hasBody) headers.set('content-type', values.type)
  return {
    url: `${filled}${query === '' ? '' : `?${query}`}`,
    init: {
      method,
      headers,
      // With a token, the session of this browser must not decide what is allowed.
      credentials: values.token === '' ? 'same-origin' : 'omit',
      cache: 'no-store',
      ...(hasBody ? { body: values.body } : {}),
    },
  }
}

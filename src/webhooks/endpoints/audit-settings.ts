import type { EndpointRow } from './endpoints.sql.ts'

/** Settings whose values the audit log shows; of the others, only that they changed. */
const SHOWN = [
  'name',
  'label',
  'responseStatus',
  'responseType',
  'template',
  'cors',
  'timeout',
] as const
const HIDDEN = ['labels', 'responseBody', 'responseHeaders', 'signature', 'alerts'] as const

/**
 * The name of a changed endpoint and what was changed, for the audit log: `responseStatus` from
 * “200 → 202”. Bodies and headers may be secret.
 */
export function auditOfSettings(before: EndpointRow, after: EndpointRow) {
  const isChanged = (field: keyof EndpointRow) =>
    JSON.stringify(before[field]) !== JSON.stringify(after[field])
  const shown = SHOWN.filter(isChanged).map((field) => [
    field,
    [before[field], after[field]].map((value) => String(value ?? 'none')).join(' → '),
  ])
  const hidden = HIDDEN.filter(isChanged).map((field) => [field, 'changed'])
  return {
    name: after.label || after.token,
    changed: Object.fromEntries([...shown, ...hidden]) as Record<string, string>,
  }
}

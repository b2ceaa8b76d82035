import { Type, type Static } from 'typebox'
import { CHANGE_TOPICS } from '../store/changes.ts'
import { nameComponents, Nullable, Uuid } from './http-schema.ts'

/** The data of a `changed` event. */
export const Changed = Type.Object({
  room: Type.Enum([...CHANGE_TOPICS], {
    description:
      'The module that changed. `requests`: a webhook endpoint captured requests, and `id` is the endpoint.',
  }),
  id: Nullable(Uuid),
})
export type Changed = Static<typeof Changed>

/** Entries of one import: one transaction, which must not keep others waiting. */
export const MAX_IMPORT_ENTRIES = 500

const IMPORT_STATUSES = ['added', 'exists', 'invalid', 'limit'] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]

export const ImportResult = Type.Object({
  input: Type.String({ description: 'The entry as it was sent.' }),
  name: Nullable(Type.String(), { description: 'Its canonical form; null if it is invalid.' }),
  id: Nullable(Uuid, { description: 'The id of what was added.' }),
  status: Type.Enum([...IMPORT_STATUSES], {
    description:
      '`exists`: the workspace, or an earlier entry, has it already. `limit`: the workspace has no room for it.',
  }),
  message: Nullable(Type.String({ description: 'Why it was not added.' })),
})
export type ImportResult = Static<typeof ImportResult>

/** The results of an import, in the order of its entries, and how many there are of each. */
export const ImportReport = Type.Object({
  results: Type.Array(ImportResult, { maxItems: MAX_IMPORT_ENTRIES }),
  added: Type.Integer(),
  exists: Type.Integer(),
  invalid: Type.Integer(),
  limit: Type.Integer(),
})
export type ImportReport = Static<typeof ImportReport>

nameComponents({ Changed, ImportResult, ImportReport })

import { Type, type Static } from 'typebox'
import { CHANGE_TOPICS } from '../store/changes.ts'
import { nameComponents, Nullable, Uuid } from './schema.ts'

/** The data of an event `changed`. */
export const Changed = Type.Object({
  room: Type.Enum([...CHANGE_TOPICS], {
    description: 'Where to look. `requests`: a webhook endpoint captured some; `id` is the endpoint.',
  }),
  id: Nullable(Uuid),
})
export type Changed = Static<typeof Changed>

nameComponents({ Changed })

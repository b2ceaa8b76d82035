import { Type, type Static } from 'typebox'
import { CHANGE_TOPICS } from '../store/changes.ts'
import { nameComponents, Nullable, Uuid } from './schema.ts'

/** The data of a `changed` event. */
export const Changed = Type.Object({
  room: Type.Enum([...CHANGE_TOPICS], {
    description:
      'The module that changed. `requests`: a webhook endpoint captured requests, and `id` is the endpoint.',
  }),
  id: Nullable(Uuid),
})
export type Changed = Static<typeof Changed>

nameComponents({ Changed })

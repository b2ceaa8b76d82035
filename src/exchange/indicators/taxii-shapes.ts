import { Type } from 'typebox'
import { nameComponents, Uuid } from '../../http/http-schema.ts'
import { MAX_OBJECTS } from './taxii.ts'

export const TaxiiError = Type.Object({ title: Type.String(), http_status: Type.String() })

export const Discovery = Type.Object({
  title: Type.String(),
  description: Type.String(),
  default: Type.String(),
  api_roots: Type.Array(Type.String()),
})

export const ApiRoot = Type.Object({
  title: Type.String(),
  versions: Type.Array(Type.String()),
  max_content_length: Type.Integer(),
})

export const Collection = Type.Object({
  id: Uuid,
  title: Type.String(),
  description: Type.String(),
  can_read: Type.Boolean(),
  can_write: Type.Boolean(),
  media_types: Type.Array(Type.String()),
})

export const Collections = Type.Object({ collections: Type.Array(Collection) })

const paging = {
  more: Type.Optional(Type.Boolean()),
  next: Type.Optional(Type.String({ description: 'Send it as `next` to get the following page.' })),
}

/** A STIX 2.1 object: an indicator or an identity. */
const StixObject = Type.Object(
  {
    type: Type.String(),
    spec_version: Type.String(),
    id: Type.String(),
    created: Type.String(),
    modified: Type.String(),
  },
  { additionalProperties: true },
)

export const Envelope = Type.Object({
  ...paging,
  objects: Type.Optional(Type.Array(StixObject)),
})

export const Manifest = Type.Object({
  ...paging,
  objects: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        date_added: Type.String(),
        version: Type.String(),
        media_type: Type.String(),
      }),
    ),
  ),
})

export const Versions = Type.Object({ ...paging, versions: Type.Array(Type.String()) })

export const CollectionParams = Type.Object({ id: Uuid })
export const ObjectParams = Type.Object({ id: Uuid, objectId: Type.String({ maxLength: 100 }) })

const filter = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

export const ObjectQuery = Type.Object({
  added_after: filter(40),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: `At most ${MAX_OBJECTS}.` })),
  next: filter(100),
  'match[id]': filter(4_000),
  'match[type]': filter(200),
  'match[version]': filter(1_000),
  'match[spec_version]': filter(100),
})

nameComponents({ TaxiiError, TaxiiCollection: Collection, TaxiiEnvelope: Envelope, StixObject })

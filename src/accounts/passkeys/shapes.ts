import { Type } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import { LABEL_LENGTH } from '../shapes.ts'

const PasskeyName = Type.String({
  minLength: 1,
  maxLength: LABEL_LENGTH,
  pattern: SHOWN_NAME,
  description: 'For example the device that holds the passkey.',
})

export const Passkey = Type.Object({
  id: Uuid,
  name: Type.String(),
  isBackedUp: Type.Boolean({
    description: 'Whether the passkey is synchronized between devices or backed up.',
  }),
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
})

const State = Type.String({ maxLength: 1_000, description: 'From the options.' })

/** For `navigator.credentials`, in the JSON form of W3C Web Authentication level 3. */
const WebAuthnJson = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 20 })

export const PasskeyOptions = Type.Object({
  options: WebAuthnJson,
  state: Type.String({ description: 'Send it with the answer of the browser, within 5 minutes.' }),
})
export const NewPasskey = Type.Object({ state: State, name: PasskeyName, response: WebAuthnJson })
export const PasskeyAnswer = Type.Object({ state: State, response: WebAuthnJson })
export const PasskeyChange = Type.Object({ name: PasskeyName })

nameComponents({ Passkey, PasskeyOptions, NewPasskey, PasskeyAnswer, PasskeyChange })

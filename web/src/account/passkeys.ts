import { ApiError } from '../api.ts'
import { security } from './api.ts'
import { passkeys as messages } from './messages.ts'

/** The library that talks to the browser’s passkeys is loaded only when one is used. */
const load = () =>
  import('@simplewebauthn/browser').catch(() => {
    throw new ApiError(0, { error: messages.unavailable })
  })

/**
 * Creates a passkey in this browser and adds it to the account.
 * @throws an error with a message for people, also when the browser’s dialog was closed
 */
export async function addPasskey(name: string): Promise<void> {
  const { startRegistration } = await load()
  const { options, state } = await security.startPasskey()
  const response = await startRegistration({ optionsJSON: options }).catch(() => {
    throw new ApiError(0, { error: messages.failed })
  })
  await security.addPasskey({ state, name, response })
}

/** Signs in with a passkey, also again in a session that is no longer recent. */
export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await load()
  const { options, state } = await security.startPasskeySignIn()
  const response = await startAuthentication({ optionsJSON: options }).catch(() => {
    throw new ApiError(0, { error: messages.notUsed })
  })
  await security.signInWithPasskey({ state, response })
}

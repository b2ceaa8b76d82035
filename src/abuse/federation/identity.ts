import { createSigningKey, type SigningKey } from '../../protocols/http-signature.ts'

/** This installation as its peers know it. */
export type Identity = {
  /** The URL of its attack-reporting endpoints, an origin. */
  url: string
  key: SigningKey
}

/** @param seed 32 bytes in base64url */
export function createIdentity(url: string, seed: string): Identity {
  return { url: new URL(url).origin, key: createSigningKey(seed) }
}

/** The name of an installation: its host, with the port if it is not the usual one. */
export const nameOf = (url: string) => new URL(url).host

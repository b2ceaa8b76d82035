import type { Routes } from '../http/scopes.ts'
import type { AddressReaders } from './describe-address.ts'
import { addressRoute } from './routes.ts'

/** Joins what the other modules know of an address. */
export function createAddressesModule(readers: AddressReaders) {
  return {
    routes: {
      account: (app) => addressRoute(app, readers),
    } satisfies Routes<unknown>,
  }
}

import type { AuthOptions } from './auth-settings.ts'
import type { Library } from './better-auth.ts'

export type Auth = ReturnType<typeof createAuth>

/**
 * Opens better-auth at its first use: a service that only programs use, with tokens, never needs
 * its ten megabytes.
 */
export function createAuth(options: AuthOptions) {
  let opened: Promise<Library> | undefined
  const open = () => (opened ??= openLibrary(options))
  return {
    baseUrl: options.config.BASE_URL,
    /** Answers a request as the library does. Throws what is not an error of the library. */
    handler: async (request: Request) => (await open()).handler(request),
    /** The functions of the library. */
    api: async () => (await open()).api,
  }
}

async function openLibrary(options: AuthOptions): Promise<Library> {
  return (await import('./better-auth.ts')).openLibrary(options)
}

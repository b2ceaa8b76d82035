import type { App } from './server.ts'

/** Accepts forms of plain pages, in the context of this scope alone. */
export function acceptForms(scope: App): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, text, done) => done(null, Object.fromEntries(new URLSearchParams(String(text)))),
  )
}

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type, type Static, type TObject } from 'typebox'
import type { App } from './http-app.ts'
import type { LimitName } from './limits/request-limits.ts'
import { PAGE_HEADERS } from './plain-page.ts'

/** What a page answers: its HTML, the same with another status, or the path of the next page. */
export type PageAnswer = string | { status: number; html: string } | { path: string }

/** A link that opens nothing any more: its page, which is sent with 410. */
export type Ended = { ended: string }

type PublicPage<Opened extends object, Form extends TObject, Query extends TObject> = {
  /** A path that ends with `/:token`. */
  url: string
  limit: LimitName
  /** The most characters of a token. */
  tokenLength: number
  /** The fields of its form. Without them, any POST is the press of its button (RFC 8058). */
  form?: Form
  /** The most bytes of its form. */
  formBytes: number
  query?: Query
  /** Finds what a token is for; null where it is not one of ours. */
  open(token: string): Promise<Opened | Ended | null>
  /** The page for such a token, which is sent with 404. */
  unknown(): string
  /** The page with the form. */
  ask(opened: Opened, query: Static<Query>): Promise<string> | string
  /** Does what the form says. */
  act(opened: Opened, form: Static<Form>, reply: FastifyReply): Promise<PageAnswer>
}

/**
 * A page for people who are not signed in, at a link with a token. Reading it changes nothing, so
 * that previews and link scanners, which open every link, do no harm; its form acts.
 */
export function publicPage<
  Opened extends object,
  Form extends TObject = TObject,
  Query extends TObject = TObject,
>(app: App, page: PublicPage<Opened, Form, Query>): void {
  const config = { limit: page.limit }
  const params = Type.Object({ token: Type.String({ maxLength: page.tokenLength }) })
  const schema = { hide: true, params, ...(page.query && { querystring: page.query }) }
  const { form: body, formBytes: bodyLimit } = page

  async function open(token: string): Promise<{ it: Opened } | { status: number; html: string }> {
    const opened = await page.open(token)
    if (opened === null) return { status: 404, html: page.unknown() }
    return 'ended' in opened ? { status: 410, html: opened.ended } : { it: opened }
  }

  // In a context of its own, because only here a body is a form.
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      body ? 'application/x-www-form-urlencoded' : '*',
      { parseAs: 'string' },
      (_request, text, done) =>
        done(null, body ? Object.fromEntries(new URLSearchParams(String(text))) : null),
    )
    const routes = scope.withTypeProvider<TypeBoxTypeProvider>()
    routes.get(page.url, { config, schema }, async ({ params: { token }, query }, reply) => {
      const opened = await open(token)
      return send(
        reply,
        'html' in opened ? opened : await page.ask(opened.it, query as Static<Query>),
      )
    })
    routes.post(
      page.url,
      { config, bodyLimit, schema: { ...schema, ...(body && { body }) } },
      async (request, reply) => {
        const opened = await open(request.params.token)
        const form = request.body as Static<Form>
        return send(reply, 'html' in opened ? opened : await page.act(opened.it, form, reply))
      },
    )
  })
}

function send(reply: FastifyReply, answer: PageAnswer): FastifyReply {
  if (typeof answer === 'object' && 'path' in answer) return reply.redirect(answer.path, 303)
  const { status, html } = typeof answer === 'string' ? { status: 200, html: answer } : answer
  return reply.code(status).headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(html)
}

import { Type } from 'typebox'
import { invalidField } from '../../errors.ts'
import { Failure } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { fail2banConfig, installerScript } from './installer.ts'
import { findService } from '../../abuse/services.ts'

const InstallQuery = Type.Object({
  token: Type.Optional(
    Type.String({
      pattern: '^ar_[A-Za-z0-9]{32}$',
      maxLength: 35,
      description:
        'A report token, for statistics of your own. It ends up in shell histories: --token-file does not.',
    }),
  ),
  block: Type.Enum(['0', '1'], {
    default: '0',
    description: '1 also installs the consumer of the blocklist.',
  }),
  block_service: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'With block=1: only addresses that attack this service, by id or alias.',
    }),
  ),
})

const textOf = (type: string) => ({ [type]: { schema: Type.String() } })

/**
 * Registers the public files that servers install, so that one line joins a server to the network.
 * @param reportsUrl origin of the attack-reporting endpoints, which is written into the files
 */
export function installerRoutes(app: App, { reportsUrl }: { reportsUrl: string }): void {
  app.get(
    '/api/v1/abuse/fail2ban-install',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Installer for fail2ban',
        description:
          'A POSIX shell script: read it, then run it as root. It takes --dry-run, --yes, --key-file and --uninstall.',
        querystring: InstallQuery,
        response: {
          200: { description: 'The script', content: textOf('text/x-shellscript') },
          '4xx': Failure,
        },
      },
    },
    async (request, reply) => {
      const { token, block, block_service: name } = request.query
      const script = installerScript(reportsUrl, {
        token,
        block: block === '1',
        blockService: serviceId(name),
      })
      return reply.type('text/x-shellscript; charset=utf-8').send(script)
    },
  )

  app.get(
    '/api/v1/abuse/fail2ban-config',
    {
      config: { limit: 'public pages' },
      schema: {
        summary: 'Action and jail examples for fail2ban',
        description: 'One text file for installing by hand: each part under its path.',
        response: { 200: { description: 'The file', content: textOf('text/plain') } },
      },
    },
    async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send(fail2banConfig(reportsUrl)),
  )
}

function serviceId(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const service = findService(name)
  if (service) return service.id
  const message = 'is no known service; GET /api/v1/abuse/report lists them'
  throw invalidField('block_service', message)
}

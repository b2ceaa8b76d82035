import { startWebhooks } from '../webhooks/module.ts'
import { runCases } from './run-cases.ts'

/** Bytes of a connection, with `TOKEN` for the endpoint’s; one character a byte. */
type Input = { bytes: string; settings?: object }

const webhooks = await startWebhooks()

runCases('captures.json', async ({ bytes, settings = {} }: Input) => {
  const endpoint = await webhooks.makeEndpoint(settings)
  const answer = await webhooks.raw(bytes.replaceAll('TOKEN', endpoint.token))
  const [request] = await webhooks.captured(endpoint)
  const body = Buffer.from(request?.body ?? '', request?.bodyEncoding).toString('latin1')
  return { answer: answer.split('\r\n', 1)[0], ...request, body }
})

import { Type } from 'typebox'
import { defineChannel, type Delivery } from './define-channel.ts'
import { requireSuccess } from './outcomes.ts'
import { OneOf, Secret, SelfHostedSecret, Text } from './fields.ts'
import { PRIVATE_SERVER_HELP } from './self-hosted.ts'
import { fillForm, fillJson, problemWithTemplate, TEMPLATE_VALUES } from './template-body.ts'
import { parseHeaders, problemWithHeaders } from './template-headers.ts'

/** A request that users write themselves, such as for an SMS gateway. */
export const template = defineChannel({
  id: 'template',
  name: 'Custom webhook',
  group: 'other',
  keywords: 'http json form url sms gateway own service',
  docs: 'Look up the URL, the headers and the body that the other service expects.',
  ending: 'The same request is sent again; “phase” is then “resolved”.',
  disabling: 'The URL responds 410.',
  fields: Type.Object({
    url: SelfHostedSecret({
      label: 'URL',
      help: PRIVATE_SERVER_HELP,
      placeholder: 'https://sms.example.com/send',
    }),
    method: OneOf(['POST', 'PUT', 'PATCH'], { label: 'Method' }),
    format: OneOf(['json', 'form'], {
      label: 'Format',
      help: 'Values are encoded for this format.',
    }),
    headers: Type.Optional(
      Secret(
        {
          label: 'Headers',
          help: 'One per line, or separated by |.',
          placeholder: 'Authorization: Bearer …',
        },
        { pattern: '^[\\x20-\\x7e\\r\\n]*$' },
      ),
    ),
    body: Text(
      {
        label: 'Body',
        isMultiline: true,
        help: `Placeholders: ${TEMPLATE_VALUES.map((name) => `{{${name}}}`).join(', ')}.`,
        placeholder: '{"text": "{{title}}: {{link}}"} or to=123&text={{title}}',
      },
      { maxLength: 2_000, pattern: '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]*$' },
    ),
  }),
  limits: { title: 250, text: 4_000, perMinute: 30 },
  problemWith: ({ body, format, headers = '' }) =>
    problemIn('body', problemWithTemplate(body, format)) ??
    problemIn('headers', problemWithHeaders(headers)),
  async send(delivery, { url, method, format, headers = '', body }, { http }) {
    const values = valuesOf(delivery)
    const content =
      format === 'json' ? { json: fillJson(body, values) } : { form: fillForm(body, values) }
    const response = await http(url, { method, headers: parseHeaders(headers), ...content })
    requireSuccess(response, response.status === 410, 'any')
  },
})

function problemIn(field: string, sentence: string | null) {
  return sentence === null ? null : { field, sentence }
}

function valuesOf({ id, title, text, severity, phase, link, incident, at }: Delivery) {
  return {
    id,
    title,
    text,
    severity,
    phase,
    link: link ?? '',
    incident: incident ?? '',
    time: at.toISOString(),
  }
}

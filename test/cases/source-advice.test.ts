import { adviseOnSource } from '../../src/dmarc/sources/source-advice.ts'
import { sumIdentities } from '../../src/dmarc/sources/identities.ts'
import { readAggregate } from '../protocols/reports/report-samples.ts'
import { runCases } from './run-cases.ts'

/** Records of one source as XML. `mode`: the alignment that the report says was published. */
type Input = {
  records: string[]
  address?: string
  group?: 'failing' | 'partly-aligned' | 'aligned' | 'forwarder-like'
  mode?: 'r' | 's'
}

/** The advice on a source of rep.test. */
runCases('source-advice.json', async ({ records, mode = 'r', ...source }: Input) => {
  const { address = '198.51.100.11', group = 'failing' } = source
  const row = `<row><source_ip>${address}</source_ip><count>1</count>`
  const xml = `<feedback><report_metadata><report_id>1</report_id><date_range><begin>1</begin><end>2</end></date_range></report_metadata>
    <policy_published><domain>rep.test</domain><adkim>${mode}</adkim><aspf>${mode}</aspf></policy_published>
    ${records.map((record) => record.replace('<record>', `<record>${row}`).replace('<identifiers>', '</row><identifiers>')).join('')}</feedback>`
  const { records: read, policyPublished: report } = await readAggregate(xml)
  const all = read.map((record) => ({ ...record, report }))
  const failed = all.filter(
    ({ policyEvaluated: { dkim, spf } }) => dkim !== 'pass' && spf !== 'pass',
  )
  const by = (name: 'dkim' | 'spf') =>
    all.filter(({ policyEvaluated }) => policyEvaluated[name] === 'pass').length
  const counts = { group, messages: all.length, dkim: by('dkim'), spf: by('spf') }
  const { verdict, sentence, steps, otherwise } = adviseOnSource(
    'rep.test',
    address,
    { ...counts, aligned: all.length - failed.length },
    { all: sumIdentities(all, 'rep.test'), failed: sumIdentities(failed, 'rep.test') },
  )
  return {
    verdict,
    sentence,
    otherwise,
    steps: steps.map(({ text, publish }) => ({ text, publish: publish?.value ?? null })),
  }
})

import type { DomainReport } from './shapes.ts'

/** A report as the documentation shows it, with two of its lines. */
export const EXAMPLE_REPORT: DomainReport = {
  domain: 'example.com',
  unicodeDomain: 'example.com',
  registeredDomain: 'example.com',
  verdict: {
    state: 'warning',
    sentence: 'example.com works, with 1 warning: DMARC.',
    exitCode: 1,
  },
  stages: [
    {
      name: 'authentication',
      title: 'Authentication',
      state: 'warning',
      lines: ['spf', 'dkim', 'dmarc', 'bimi'],
    },
  ],
  lines: [
    {
      name: 'dmarc',
      title: 'DMARC',
      stage: 'authentication',
      state: 'warning',
      isUsed: true,
      summary: 'Not enforced: the policy “none” only monitors. Spoofed mail is still delivered.',
      details: [],
      evidence: [
        {
          label: '_dmarc.example.com TXT',
          value: 'v=DMARC1; p=none; rua=mailto:dmarc@example.com',
          state: 'good',
        },
      ],
    },
  ],
  fixes: [
    {
      name: '_dmarc.example.com',
      type: 'TXT',
      line: 'dmarc',
      severity: 'warning',
      published: ['v=DMARC1; p=none; rua=mailto:dmarc@example.com'],
      value: 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com',
      changes: [
        {
          removed: 'p=none',
          added: 'p=quarantine',
          reason:
            'Not enforced: p=none only monitors, and spoofed mail is delivered. p=quarantine moves it to spam.',
        },
      ],
      caution: 'Publish this when the reports show that your own mail passes.',
    },
  ],
  checkedAt: '2026-11-24T12:00:00.000Z',
  durationMs: 2_140,
}

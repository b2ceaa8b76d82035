export const labels = {
  title: 'Labels',
  hint: 'For alert rules and filters, separated by commas: production, customer-a',
  save: 'Save labels',
  wrong: 'Use up to 10 labels of up to 30 letters, digits, dots, hyphens or underscores.',
} as const

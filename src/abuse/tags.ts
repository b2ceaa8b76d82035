export const TAGS = ['Attack reporting']

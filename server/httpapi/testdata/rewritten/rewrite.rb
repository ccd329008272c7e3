# Prints each body of standard input as the library json writes it after JSON.parse: form and text, in base64.
require "json"

FORMS = {
  "generate" => ->(value) { JSON.generate(value) },
  "to_json" => ->(value) { value.to_json },
  "dump" => ->(value) { JSON.dump(value) },
  "pretty_generate" => ->(value) { JSON.pretty_generate(value) },
  "ascii_only" => ->(value) { JSON.generate(value, ascii_only: true) },
  "script_safe" => ->(value) { JSON.generate(value, script_safe: true) },
  "space" => ->(value) { JSON.generate(value, space: " ") },
  "sorted" => ->(value) { JSON.generate(value.sort.to_h) },
}

$stdin.each_line do |line|
  value = JSON.parse(line.unpack1("m").force_encoding("UTF-8"))
  FORMS.each { |form, write| puts "#{[form].pack("m0")} #{[write.call(value)].pack("m0")}" }
end

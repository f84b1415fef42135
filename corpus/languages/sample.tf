# The servers of a shop; variable "not_here" {} is a comment
terraform {
  required_version = ">= 1.9"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  type        = string
  default     = "eu-central-1"
  description = "variable \"in_a_text\" {}"

  validation {
    condition     = length(var.region) > 0
    error_message = "A region is needed."
  }
}

locals {
  name   = "shop-${var.region}"
  labels = { for key, value in var.labels : key => upper(value) if value != "" }
}

resource "aws_instance" "web" {
  count         = var.instances
  ami           = data.aws_ami.ubuntu.id
  instance_type = local.name == "large" ? "m5.large" : "t3.micro"

  dynamic "ebs_block_device" {
    for_each = var.disks
    content {
      device_name = ebs_block_device.value.name
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

data "aws_ami" "ubuntu" {
  most_recent = true
}

module "network" {
  source = "./network"
  cidr   = "10.0.0.0/16"
}

output "address" {
  value = aws_instance.web[*].public_ip
}

moved {
  from = aws_instance.old
  to   = aws_instance.web
}

check "health" {
  assert {
    condition     = data.http.shop.status_code == 200
    error_message = <<-TEXT
      variable "in_a_heredoc" {}
    TEXT
  }
}

import {
  to = aws_instance.web
  id = "i-12345"
}
